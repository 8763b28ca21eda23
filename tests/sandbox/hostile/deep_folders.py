"""Make folders in folders, deeper than any path can say, and bar one of them."""

import os

depth = 0
try:
    for _ in range(700):
        os.mkdir("deeper")
        os.chdir("deeper")
        depth += 1
    os.mkdir("barred", 0)
except OSError as fault:
    print(fault)
print("MADE", depth)
