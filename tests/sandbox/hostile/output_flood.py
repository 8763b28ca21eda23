"""Say 64 MB."""

import sys

line = "A" * 65535 + "\n"
for _ in range(1024):
    sys.stdout.write(line)
print("END")
