"""Which sandbox there is on this machine."""

from __future__ import annotations

import sys

from chalicelib.adapters.sandbox.bubblewrap import Bubblewrap
from chalicelib.adapters.sandbox.contained import Wall
from chalicelib.adapters.sandbox.landlocked import Landlock
from chalicelib.adapters.sandbox.proving import ProvenSandbox
from chalicelib.ports.clock import Clock

AUTO = "auto"
WALLS: dict[str, type[Bubblewrap] | type[Landlock]] = {"bubblewrap": Bubblewrap, "landlock": Landlock}
"""Of those that stand, `auto` takes the strongest: the first one. There is none that contains nothing."""


def sandbox_here(name: str, clock: Clock) -> ProvenSandbox:
    """`name`: a wall's, or `auto`. Raises KeyError for another one."""
    names = list(WALLS) if name == AUTO else [name]
    walls: list[Wall] = [WALLS[each]() for each in names]
    return ProvenSandbox(walls if sys.platform == "linux" else [], clock)
