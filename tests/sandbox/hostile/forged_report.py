"""Write into the sandbox's own channel, or into the pipes of its first process."""

import os

got = []
for pid in (os.getppid(), 1):
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            with open(f"/proc/{pid}/fd/{name}", "wb", buffering=0) as file:
                file.write(b'{"exit": 0}\n')
                got.append(f"{pid}/{name}")
    except OSError:
        pass
for number in range(3, 256):
    try:
        os.write(number, b'{"exit": 0}\n')
        got.append(f"own {number}")
    except OSError:
        pass
print("HELD" if all(each.startswith("own") for each in got) else "GOT", got)
