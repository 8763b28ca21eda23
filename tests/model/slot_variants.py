"""The rules for slots, each taken out: what goes wrong then is what the rule is for."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.core import slots
from chalicelib.core.run import Run
from chalicelib.core.slots import Use
from chalicelib.ports.slot_store import SlotStore
from chalicelib.usecases import advance, confirm
from tests.model import roles
from tests.model import scenarios as worlds
from tests.model.table import Rules
from tests.model.variants import Variant, in_world

Patch = pytest.MonkeyPatch


def _kept(patch: Patch) -> None:
    use = slots.use

    def kept(before: Run, after: Run) -> Use | None:
        found = use(before, after)
        return None if found is Use.FREE else found

    patch.setattr(slots, "use", kept)


def _nobody_begun(patch: Patch) -> None:
    def nobody(account_id: str, *, slots: SlotStore, **others: Any) -> int:
        slots.slots(account_id)
        return 0

    for module in (advance, confirm, roles):
        patch.setattr(module, "admit", nobody)


SLOT_VARIANTS = (
    Variant(
        "the condition of a slot",
        in_world(worlds.CROWDED_ALONE, Rules(a_slot_is_free=False)),
        "two runs are at work",
    ),
    Variant(
        "the condition of standing in line",
        in_world(worlds.CROWDED_ALONE, Rules(none_is_free=False), frees=1),
        "the run is pending for ever",
    ),
    Variant(
        "the slot among the conditions of a change",
        in_world(worlds.CROWDED_CANCELLED, Rules(unguarded=("slot",)), cancels=1, frees=1),
        "a cancelled run is for ever due",
    ),
    Variant(
        "the slot that goes with the end",
        in_world(worlds.CROWDED_CANCELLED, cancels=1, frees=1),
        "the account's slots say otherwise",
        _kept,
    ),
    Variant(
        "the next in line, begun by whoever frees a slot",
        in_world(worlds.CROWDED_ALONE, frees=1),
        "the run is pending for ever",
        _nobody_begun,
    ),
)
