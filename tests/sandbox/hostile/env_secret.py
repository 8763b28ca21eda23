"""Look for secrets in one's own environment."""

import os

got = [name for name, value in os.environ.items() if "CANARY" in value]
print("GOT" if got else "HELD", got)
