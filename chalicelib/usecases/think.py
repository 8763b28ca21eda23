"""Make one model call and stream it into the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from queue import SimpleQueue

from chalicelib.core import steps, transcript
from chalicelib.core.acts import Think, ThinkAgain
from chalicelib.core.coalesce import Batch
from chalicelib.core.errors import LeaseLost, ModelFault, ModelUnavailable
from chalicelib.core.events import EventType
from chalicelib.core.reply import Reply, Usage
from chalicelib.ports.model import Model, ModelCall, ModelRequest
from chalicelib.usecases import late
from chalicelib.usecases.gate import Gate
from chalicelib.usecases.hold import Hold


class Over:
    """The last thing in an inbox: nothing more comes."""


Heard = str | Reply | ModelFault | Over


def think(act: Think | ThinkAgain, hold: Hold, until: datetime, *, gate: Gate, model: Model) -> ModelFault | None:
    """Begin the act, and listen until the reply is in the log, a cancel comes, the call fails, or `until` is reached.

    The fault of a failed call is returned: what follows from it is for `patience` to say.
    """
    began = _begin(act, hold)
    request = ModelRequest(
        run_id=hold.run.run_id,
        step=act.step,
        attempt_no=began.calls_made - 1,
        model=gate.agent.model,
        prompt=gate.agent.prompt,
        messages=transcript.messages(hold.run.run_id, hold.log, began.began),
        tools=gate.shown(),
        seconds=(until - hold.clock.now()).total_seconds(),
    )
    call = model.call(request)
    inbox: SimpleQueue[Heard] = SimpleQueue()
    hold.crew.begin(_pump(call, inbox))
    listener = _Listener(act.step, hold, inbox, until)
    try:
        return listener.listen()
    except LeaseLost:
        listener.tell_what_is_dropped()
        raise
    finally:
        call.close()


def _begin(act: Think | ThinkAgain, hold: Hold) -> steps.Step:
    match act:
        case Think(step):
            hold.begin(EventType.STEP_STARTED, {"step": step})
        case ThinkAgain(step, from_seq):
            hold.begin(EventType.STEP_RESET, {"step": step, "from_seq": from_seq})
    step_begun = steps.current(hold.run.run_id, hold.log)
    if step_begun is None:
        raise AssertionError("a step that was begun a moment ago is in the log")
    return step_begun


def _pump(call: ModelCall, inbox: SimpleQueue[Heard]) -> Callable[[], None]:
    def pump() -> None:
        try:
            for chunk in call.chunks():
                inbox.put(chunk)
        except ModelFault as fault:
            inbox.put(fault)
        finally:
            inbox.put(Over())

    return pump


@dataclass(slots=True)
class _Listener:
    step: int
    hold: Hold
    inbox: SimpleQueue[Heard]
    until: datetime
    batch: Batch = field(default_factory=Batch)
    size: int = 0
    usage: Usage | None = None

    def listen(self) -> ModelFault | None:
        """Write down what comes, batch by batch."""
        while not self.hold.cancelling and self.hold.clock.now() < self.until:
            heard = self.hold.attend(self.inbox, min(self._due() or self.until, self.until))
            match heard:
                case str():
                    self.batch.add(heard, self.hold.clock.now())
                    self.size += len(heard.encode())
                case Reply():
                    self.usage = heard.usage
                    self._write_text()
                    self.hold.tell(EventType.MODEL_REPLIED, steps.reply_data(self.step, heard))
                    return None
                case ModelFault() if self.hold.clock.now() < self.until:
                    return heard
                case Over():
                    return ModelUnavailable("the stream ended without a reply")
            if (due := self._due()) is not None and due <= self.hold.clock.now():
                self._write_text()
        self._write_text()
        return None

    def tell_what_is_dropped(self) -> None:
        """Somebody else has the run, and makes the call again: what was heard of this one, to the last piece."""
        while not self.inbox.empty():
            match self.inbox.get():
                case str() as text:
                    self.size += len(text.encode())
                case Reply(usage=usage):
                    self.usage = usage
        late.model_call(self.hold.run, self.step, self.size, self.usage)

    def _due(self) -> datetime | None:
        return self.batch.due(watched=self.hold.watched)

    def _write_text(self) -> None:
        if text := self.batch.take():
            self.hold.tell_text({"step": self.step, "attempt": self.hold.run.attempt, "text": text})
