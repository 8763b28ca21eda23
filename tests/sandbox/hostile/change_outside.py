"""Change what is there already: shorten it, take its modes away, move it, make a second name for it."""

import json
import os
from collections.abc import Callable

world = json.load(open("in/world.json"))
victim = f"{world['home']}/precious"
WAYS: dict[str, Callable[[], object]] = {
    "mode": lambda: os.chmod(victim, 0o777),
    "time": lambda: os.utime(victim, (0, 0)),
    "attribute": lambda: os.setxattr(victim, "user.mark", b"x"),
    "shorter": lambda: os.truncate(victim, 3),
    "link": lambda: os.link(victim, "precious"),
    "moved": lambda: os.rename(victim, f"{victim}-moved"),
}
got = []
for name, way in WAYS.items():
    try:
        way()
        got.append(name)
    except OSError:
        pass
print("TRIED", got)
