"""Who sees what the model and the tools are asked, and knows from the log whether they had been asked it to the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from chalicelib.core.events import Event, EventType
from chalicelib.core.tools import Invocation
from chalicelib.ports.model import Model, ModelCall, ModelRequest


@dataclass
class Witness:
    """Counts model calls by run and step, and effects by run, call and tool.

    `repeated`: what was asked once more though its outcome stood in the log.
    """

    log: Callable[[str], list[Event]]
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    made: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repeated: list[str] = field(default_factory=list)

    def tool(self, invocation: Invocation) -> None:
        run_id, call = invocation.run_id, invocation.call
        self.made[run_id, call.call_id, call.name] += 1
        self._look(run_id, EventType.TOOL_FINISHED, "call_id", call.call_id)

    def model(self, request: ModelRequest) -> None:
        self.asked[request.run_id, request.step] += 1
        self._look(request.run_id, EventType.MODEL_REPLIED, "step", request.step)

    def times(self, run_id: str, tool: str) -> dict[str, int]:
        """How often each call of the tool was made."""
        return {call_id: times for (of, call_id, name), times in self.made.items() if (of, name) == (run_id, tool)}

    def _look(self, run_id: str, told: EventType, name: str, value: object) -> None:
        if any(event.type is told and event.data[name] == value for event in self.log(run_id)):
            self.repeated.append(f"{run_id} {told} {value}")


@dataclass
class WatchedModel:
    """A model whose calls are seen."""

    model: Model
    witness: Witness

    def call(self, request: ModelRequest) -> ModelCall:
        self.witness.model(request)
        return self.model.call(request)
