"""The console's modules by themselves: `*.test.js` beside this file, in the Node.js that Playwright brings."""

from __future__ import annotations

import subprocess
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

HERE = Path(__file__).parent


def test_the_modules_keep_their_promises() -> None:
    node, _ = compute_driver_executable()
    files = sorted(map(str, HERE.glob("*.test.js")))
    ran = subprocess.run([node, "--test", *files], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\nℹ skipped 0\n" in ran.stdout  # noqa: RUF001 - the sign is Node's
