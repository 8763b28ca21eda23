"""A model call is closed however its worker stops listening: nobody pays for words that nobody hears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from chalicelib.adapters.models.scripted import Refuses, Silent, Turn
from chalicelib.core import lease
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.reply import Reply
from chalicelib.core.run import Run, Status
from chalicelib.ports.model import Model, ModelCall, ModelRequest
from chalicelib.usecases.route import CONTINUE, END, Next
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import Tool, Workshop, asks


@dataclass
class CountedCall:
    """A call that knows how often it was closed, and whether it had come to its end by then."""

    call: ModelCall
    closed: int = 0
    ended: bool = False

    def chunks(self) -> Iterator[str | Reply]:
        for chunk in self.call.chunks():
            self.ended = isinstance(chunk, Reply)
            yield chunk

    def close(self) -> None:
        self.closed += 1
        self.call.close()


@dataclass
class CountingModel:
    """A `Model` that remembers its calls."""

    model: Model
    calls: list[CountedCall] = field(default_factory=list)

    def call(self, request: ModelRequest) -> ModelCall:
        self.calls.append(CountedCall(self.model.call(request)))
        return self.calls[-1]


def counting(shop: Workshop) -> CountingModel:
    counted = CountingModel(shop.model)
    shop.model = counted
    return counted


def the_broken_off(model: CountingModel) -> None:
    """Exactly one call was made; it was closed, in the middle."""
    (call,) = model.calls
    assert (call.closed, call.ended) == (1, False)


SLOW = Turn(text=" ".join("word" for _ in range(100)), pace=1)


def lease_gone(shop: Workshop) -> None:
    """Nothing in the log says so: the next renewal finds out."""
    shop.runs.hand_back(lease.handed_back(shop.run, shop.time.now()))


def taken_over(shop: Workshop) -> None:
    """Another worker writes: the next append or look at the tail finds out."""
    lease_gone(shop)
    run, last = shop.found()
    shop.runs.commit(lease.take(run, tail=last.seq, now=shop.time.now(), write_id=shop.chance.write_id()))


@pytest.mark.parametrize("turn", [SLOW, Turn(text="never", fault=Silent(500))], ids=["streaming", "silent"])
@pytest.mark.parametrize("fenced", [taken_over, lease_gone])
def test_a_worker_that_lost_its_hold_closes_its_call(
    fenced: Callable[[Workshop], None], turn: Turn, workshop: OpenWorkshop
) -> None:
    shop = workshop((turn,))
    model = counting(shop)
    shop.at(4.2, lambda: fenced(shop))
    assert shop.advance().next is Next.WAIT
    the_broken_off(model)


@pytest.mark.parametrize("turn", [SLOW, Turn(text="never", fault=Silent(500))], ids=["streaming", "silent"])
def test_a_cancel_closes_the_call(turn: Turn, workshop: OpenWorkshop) -> None:
    shop = workshop((turn,))
    model = counting(shop)
    shop.at(4.2, shop.cancel)
    assert shop.advance() == END
    assert shop.run.status is Status.CANCELLED
    the_broken_off(model)


def test_a_slice_whose_time_is_up_closes_the_call(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="never", fault=Silent(500)),))
    model = counting(shop)
    assert shop.advance(seconds=310) == CONTINUE
    the_broken_off(model)


def test_a_worker_that_fails_closes_the_call(workshop: OpenWorkshop) -> None:
    shop = workshop((SLOW,))
    model, append = counting(shop), shop.runs.append

    def unavailable(run: Run, event: Event) -> None:
        if event.type is EventType.TEXT_DELTA:
            raise Unavailable("throttled")
        append(run, event)

    shop.runs.append = unavailable  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="throttled"):
        shop.advance()
    the_broken_off(model)


def test_a_call_that_was_turned_away_is_closed(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x", fault=Refuses()),))
    model = counting(shop)
    assert shop.advance() == END
    the_broken_off(model)


def test_each_call_of_a_run_is_closed_once_it_is_over(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("look"), asks("look"), Turn(text="Done.")), [Tool()])
    model = counting(shop)
    assert shop.advance() == END
    assert [(call.closed, call.ended) for call in model.calls] == [(1, True)] * 3
