"""Die of a bad pointer."""

import ctypes

print("begun", flush=True)
ctypes.string_at(0)
