"""Write into the sandbox's own channel, or into the pipes of its first process."""

import os

LINE = b'{"exit": 77, "limit": null, "dropped": 0}\n'
got = []
for pid in (os.getppid(), 1):
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            with open(f"/proc/{pid}/fd/{name}", "wb", buffering=0) as file:
                file.write(LINE)
                got.append(f"{pid}/{name}")
    except OSError:
        pass
for number in range(3, 256):
    try:
        os.write(number, LINE)
        got.append(f"own {number}")
    except OSError:
        pass
print("HELD" if all(each.startswith("own") for each in got) else "GOT", got)
