"""Leave a process behind, in a session of its own, with nothing open, for at most twenty seconds."""

import json
import os
import sys
import time

world = json.load(open("in/world.json"))
try:
    os.setsid()
except OSError as fault:
    print(fault)
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(20)", world["mark"]])
        os._exit(0)
    os.wait()
    time.sleep(0.3)
    print("GOT a daemon")
except OSError as fault:
    print("HELD", fault)
