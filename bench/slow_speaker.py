"""A model provider that says a long thing slowly."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import overload

from tests.adapters.models.provider import DONE, STOP, Answer, delta, serving, usage


class Slowly(Sequence[bytes]):
    """The pieces of a provider's answer, each of which comes so many seconds after the one before."""

    def __init__(self, words: int, pause: float) -> None:
        said = [delta(content=f"word{number} ") for number in range(words)]
        self._pieces = [*said, STOP, usage(9, words), DONE]
        self._pause = pause

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        threading.Event().wait(self._pause)
        return self._pieces[index]


@contextmanager
def a_slow_speaker(words: int, pause: float) -> Iterator[str]:
    """Its URL, for PAWL_MODEL_URL."""
    with serving(Answer(Slowly(words, pause))) as provider:
        yield provider.url
