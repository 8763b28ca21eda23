"""Which locals of a stopped function it will still look at: what it has forgotten does not tell two positions apart."""

from __future__ import annotations

import dis
import sys
from collections.abc import Hashable, Iterator
from functools import cache
from types import CodeType, FrameType
from typing import Any

from tests.model.book import Freezer

_AROUND = ("_advance", "_await_answer", "_abandon", "_put_back", "_sweep", "_cancel", "_say", "_admit")
"""Frames that know more of the past than matters, or nothing."""


def frames(freezer: Freezer) -> Hashable:
    """Where the use case stands that has just asked for something: taken before it is unwound, which changes things."""
    found, frame = [], sys._getframe(2)
    while frame.f_code.co_qualname != "Cast._run":
        code, at = frame.f_code, frame.f_lasti
        if not code.co_qualname.startswith(_AROUND):
            found.append((code.co_qualname, at, living(frame, at)))
        assert frame.f_back is not None, "every use case is run by the cast"
        frame = frame.f_back
    return freezer.freeze(found)


def living(frame: FrameType, at: int) -> dict[str, Any]:
    """The locals that count. What a loop runs over stands on the stack, unseen, so that its variable always counts."""
    keeps = _live_at(frame.f_code, at) | _always(frame.f_code)
    return {name: value for name, value in frame.f_locals.items() if name in keeps}


@cache
def _live_at(code: CodeType, at: int) -> frozenset[str]:
    """What is read later on, and what the statement that is under way has read: that may still lie on the stack."""
    live = _live_after(code)
    on_the_stack: set[str] = set()
    for each in dis.get_instructions(code):
        if each.offset > at:
            break
        if each.opname.startswith(("STORE_", "POP_TOP")):
            on_the_stack.clear()
        elif "LOAD_FAST" in each.opname:
            on_the_stack.update(_names(each))
        stopped_at = each.offset
    return live[stopped_at] | on_the_stack


@cache
def _always(code: CodeType) -> frozenset[str]:
    told = list(dis.get_instructions(code))
    loops = {name for index, each in enumerate(told) if each.opname == "FOR_ITER" for name in _targets(told, index)}
    return frozenset(loops - {"_"}) | set(code.co_cellvars) | set(code.co_freevars)


def _targets(told: list[dis.Instruction], index: int) -> Iterator[str]:
    """The names that the loop at `index` binds."""
    for each in told[index + 1 :]:
        if each.opname.startswith("STORE_FAST"):
            yield from _names(each)
        elif not each.opname.startswith("UNPACK"):
            return


def _names(instruction: dis.Instruction) -> tuple[str, ...]:
    named = instruction.argval
    return named if isinstance(named, tuple) else (str(named),)


@cache
def _live_after(code: CodeType) -> dict[int, frozenset[str]]:
    """For each instruction the names that may be read after it, found by going round until nothing changes."""
    told = list(dis.get_instructions(code))
    leads_to = _edges(code, told)
    before: dict[int, frozenset[str]] = {each.offset: frozenset() for each in told}
    after = dict(before)
    changed = True
    while changed:
        changed = False
        for each in reversed(told):
            live = frozenset().union(*(before[offset] for offset in leads_to[each.offset]))
            needed = _needed(each, live)
            changed = changed or needed != before[each.offset]
            before[each.offset], after[each.offset] = needed, live
    return after


def _needed(instruction: dis.Instruction, live: frozenset[str]) -> frozenset[str]:
    name = instruction.opname
    if "LOAD_FAST" in name:
        return live | set(_names(instruction))
    if name.startswith(("STORE_FAST", "DELETE_FAST")):
        return live - set(_names(instruction))
    return live


_LEAVES = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")


def _edges(code: CodeType, told: list[dis.Instruction]) -> dict[int, set[int]]:
    edges: dict[int, set[int]] = {each.offset: set() for each in told}
    for each, following in zip(told, [*told[1:], None], strict=True):
        if following is not None and not each.opname.startswith(_LEAVES):
            edges[each.offset].add(following.offset)
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            edges[each.offset].add(each.argval)
    for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        for each in told:
            if entry.start <= each.offset < entry.end:
                edges[each.offset].add(entry.target)
    return edges
