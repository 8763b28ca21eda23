"""The browser: a Chromium that the system has. None is downloaded."""

from __future__ import annotations

import os
import shutil

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = """No Chromium was found, and the console is tested in one.
Debian, Ubuntu:  sudo apt-get install chromium
elsewhere:       install Chromium or Chrome, and name it: PAWL_CHROMIUM=/path/to/it make test"""


class NoChromium(RuntimeError):  # noqa: N818 - named by what happened
    """There is no browser on this machine."""


def executable() -> str:
    """Where it is. Raises `NoChromium`, which says how to get one."""
    found = os.environ.get("PAWL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None or shutil.which(found) is None:
        raise NoChromium(MISSING)
    return found
