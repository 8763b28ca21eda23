"""At most two hundred threads."""

import threading

threading.stack_size(64 << 10)
done, made = threading.Event(), 0
try:
    for _ in range(200):
        threading.Thread(target=done.wait, daemon=True).start()
        made += 1
except RuntimeError as fault:
    print(fault)
done.set()
print("GOT" if made == 200 else "HELD", made)
