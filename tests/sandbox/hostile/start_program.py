"""Start another program, by all the ways that the library has."""

import os
import subprocess
from collections.abc import Callable

WAYS: dict[str, Callable[[], object]] = {
    "popen": lambda: subprocess.run(["/bin/true"], check=True),
    "spawn": lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
    "system": lambda: os.system("exit 7") >> 8 == 7 or os.open("/nowhere", 0),
    "exec": lambda: os.execv("/bin/echo", ["echo", "GOT exec"]),
}
got = []
for name, way in WAYS.items():
    try:
        way()
        got.append(name)
    except OSError:
        pass
print("GOT" if got else "HELD", got)
