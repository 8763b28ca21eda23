"""`python -m pawl_client`, for a shell that does not find `pawl`."""

from pawl_client.cli import main

main()
