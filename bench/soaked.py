"""What a soak is to live through, what came of it, and what of that is a fault."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

AGENTS = ("brief", "five", "slow")
WAYS = ("poll", "sse", "socket")
PATIENCE = 240.0
"""Real seconds after which a run is stuck."""

EACH = 100
MIB_FOR_EACH = 80
"""What a hundred runs may add, on the average of those after the second hundred: twice what was measured. moto keeps
all that it was ever given: items, every image of them that its stream has told of, executions. Of what the garbage
collector sees nothing else grows with the runs, and `OBJECTS` holds our own to that."""
OBJECTS = 300
"""What pools and caches may come to. Beyond that a run may leave one object of ours: the latch in moto's execution."""
THREADS = 100
"""What the servers' pools may keep for a while."""


@dataclass(frozen=True)
class Plan:
    """What is lived through, and for how many seconds a run is waited for.

    `cancelled` is the share of runs that are to be cancelled. About half of them are not: they end before their
    follower has seen enough of them. What a line carries before it is cut is doubled by chance up to `doubled` times,
    to where any frame gets through: a socket's is a whole page of up to 200 events.
    """

    runs: int = 500
    at_once: int = 50
    seed: int = 1
    agents: Sequence[str] = AGENTS
    cancelled: float = 0.4
    doubled: int = 9
    patience: float = PATIENCE


@dataclass(frozen=True)
class Life:
    """One run as its follower saw it. `status` is None if it did not end in time; `cancelled` if a cancel was taken."""

    run_id: str
    way: str
    status: str | None
    whole: bool
    cancelled: bool = False

    @property
    def fault(self) -> str | None:
        """What was not as it must be."""
        if self.status is None:
            return "is stuck"
        if self.status not in {"done", "cancelled"}:
            return f"ended {self.status}"
        if self.cancelled != (self.status == "cancelled"):
            return f"{'took' if self.cancelled else 'was sent no'} cancel and ended {self.status}"
        return None if self.whole else "was not seen whole"


@dataclass
class Soak:
    """What came of it. `memory` is bytes, at the beginning and after each hundred runs; `threads` and `objects`, which
    are those of our own classes and of the servers', are of the beginning and the end."""

    plan: Plan
    lives: list[Life] = field(default_factory=list)
    cuts: int = 0
    findings: list[Any] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    objects: list[int] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """Each thing that was not as it must be."""
        yield from (f"{life.run_id} ({life.way}) {life.fault}" for life in self.lives if life.fault)
        if len(self.lives) != self.plan.runs:
            yield f"{len(self.lives)} of {self.plan.runs} runs were followed"
        if not self.cuts:
            yield "no line was cut"
        yield from (f"the doctor finds {finding}" for finding in self.findings)
        if (mib := grown(self.memory)) > MIB_FOR_EACH:
            yield f"{mib:.0f} MiB more for each hundred runs, and no more than {MIB_FOR_EACH} are moto's"
        if self.threads[-1] > self.threads[0] + THREADS:
            yield f"{self.threads[-1]} threads at the end, {self.threads[0]} at the beginning"
        if self.objects[-1] > self.objects[0] + self.plan.runs + OBJECTS:
            yield f"{self.objects[-1]} objects at the end, {self.objects[0]} at the beginning"

    def __str__(self) -> str:
        ended = Counter(str(life.status) for life in self.lives)
        ways = Counter(life.way for life in self.lives)
        cancels = sum(life.cancelled for life in self.lives)
        added = [round(each / 2**20) for each in additions(self.memory)]
        return (
            f"{len(self.lives)} runs ended: {dict(ended)}; followed by {dict(ways)}; "
            f"{cancels} cancels; {self.cuts} cuts; "
            f"{len(self.findings)} findings; MiB for each hundred: {added}; "
            f"threads: {self.threads}; objects: {self.objects} (seed {self.plan.seed})"
        )


def additions(memory: Sequence[int]) -> list[int]:
    """What each hundred added."""
    return [later - earlier for earlier, later in itertools.pairwise(memory)]


def grown(memory: Sequence[int]) -> float:
    """MiB that a hundred runs add, on the average, once two hundred have filled pools and caches."""
    later = additions(memory)[2:]
    return sum(later) / len(later) / 2**20 if later else 0.0
