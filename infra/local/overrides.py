"""How moto is bent: one attribute at a time, put back at the end. Each use is tested: these are moto's internals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class NotThere(RuntimeError):  # noqa: N818 - named by what happened
    """moto no longer has what an override replaces: it was upgraded, and the override has to be looked at again."""


@contextmanager
def override(target: Any, name: str, replacement: Any) -> Iterator[None]:
    """`replacement` stands at `target.name` for as long as the block lasts."""
    if name not in vars(target):
        raise NotThere(f"{target.__name__} has no {name}")
    original = vars(target)[name]
    setattr(target, name, replacement)
    try:
        yield
    finally:
        setattr(target, name, original)
