"""How much of a tool's result the model is shown, and what is kept of the rest."""

from __future__ import annotations

LARGEST_KEPT = 10 * 1024 * 1024
"""Bytes of a result that are kept; what is beyond is lost, and said to be."""


def clean(content: str) -> str:
    """The text without halves of characters, which could be neither stored nor sent."""
    return content.encode(errors="replace").decode()


def kept(content: str) -> str:
    """As much of a result as is kept."""
    return _head(content, LARGEST_KEPT)


def fits(content: str, most: int) -> bool:
    """Whether the model is shown it whole. `most` in bytes of UTF-8."""
    return len(content.encode()) <= most


def shortened(content: str, most: int, digest: str | None) -> str:
    """Beginning and end of what does not fit, and between them where the whole is: a payload of the run with that
    digest; None if it could not be kept. No longer than `most` bytes, unless that is less than the line between."""
    size = len(content.encode())
    room = max(0, most - len(_between(size, size, digest).encode()))
    head, tail = _head(content, room - room // 3), _tail(content, room // 3)
    left_out = size - len(head.encode()) - len(tail.encode())
    return head + _between(left_out, size, digest) + tail


def _between(left_out: int, size: int, digest: str | None) -> str:
    if digest is None:
        whole = "the whole could not be kept"
    elif size > LARGEST_KEPT:
        whole = f"the first {LARGEST_KEPT} bytes are kept as payload {digest} of this run, the rest is lost"
    else:
        whole = f"the whole is kept as payload {digest} of this run"
    return f"\n[{left_out} of {size} bytes are left out here; {whole}]\n"


def _head(content: str, most: int) -> str:
    return content.encode()[:most].decode(errors="ignore")


def _tail(content: str, most: int) -> str:
    return content.encode()[-most:].decode(errors="ignore") if most else ""
