"""The code, run as the main module of a process of its own, the way that a script would be."""

from __future__ import annotations

import builtins
import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

NAME = "main.py"

_source: list[str] = []


def read(path: str) -> None:
    """Read the code, while the file is still in reach."""
    with open(path, encoding="utf-8") as file:
        _source.append(file.read())


def run(note: int) -> None:
    """Run it. What it raises goes up; to `note` goes what it ran out of, as far as Python knows."""
    source = _source.pop()
    module = type(sys)("__main__")
    module.__dict__["__file__"] = NAME
    sys.modules["__main__"] = module
    sys.argv = [NAME]
    # What `site` would bring, which is not asked: it reads the host's configuration.
    for name in ("exit", "quit"):
        setattr(builtins, name, sys.exit)

    def told(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        if isinstance(fault, MemoryError):
            os.write(note, b"memory")
            # There has to be some for telling it.
            module.__dict__.clear()
        elif isinstance(fault, OSError) and fault.errno in (errno.ENOSPC, errno.EFBIG):
            os.write(note, b"disk")
        _print(kind, fault, _own(trace), source)

    sys.excepthook = told
    # Whoever is killed has said what it said until then.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    exec(compile(source, NAME, "exec"), module.__dict__)


def _print(kind: type[BaseException], fault: BaseException, trace: TracebackType | None, source: str) -> None:
    import linecache
    import traceback

    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    traceback.print_exception(kind, fault, trace)


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames that called the code."""
    while trace is not None and trace.tb_frame.f_code.co_filename != NAME:
        trace = trace.tb_next
    return trace
