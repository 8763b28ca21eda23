"""Never end, doing nothing."""

import time

print("begun", flush=True)
time.sleep(3600)
