"""What becomes of a call. Every layer that has rules must let it pass; the strictest is heeded.

In a layer a rule that denies comes before one that asks, and that before one that allows; no rule is a denial. What a
layer allows is still asked about when its risk wants that, or when untrusted and private data have met in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chalicelib.core import matching
from chalicelib.core.facts import Facts
from chalicelib.core.permissions import Grant, Judgement, Layer, Ruling, text
from chalicelib.core.tools import Effect, Matching, Risk, ToolSpec

NO_RULE = "no rule allows it"
SPENT = "the limit is reached: "
ODD_VALUE = "a value cannot be judged: "
WHY_RISK = "asked about: it changes the world outside"
WHY_GRAVE = "asked about: nobody can take it back"
WHY_NEW_HOST = "asked about: no rule names where it goes"
WHY_LEAK = "asked about: private data and what strangers wrote have met in this run"

_STRICTNESS = {Ruling.ALLOW: 0, Ruling.ASK: 1, Ruling.DENY: 2}


def judge(
    name: str, fields: Mapping[str, Any], spec: ToolSpec, layers: Iterable[Layer], facts: Facts, own: Layer = ()
) -> Judgement:
    """What the layers (the account's, the agent's) say to a call of the tool with these field values, and what of that
    the run's `own` rules leave: they only ever narrow. `facts` are those from before the call.
    """
    try:
        values = {field: _canonical(field, value, spec) for field, value in fields.items()}
    except ValueError as odd:
        return Judgement(Ruling.DENY, f"{ODD_VALUE}{odd}")
    above = [_of_layer(name, values, spec, layer, facts) for layer in layers if layer]
    heard = above or [_of_nobody(spec, facts)]
    return _strictest([*heard, _of_layer(name, values, spec, own, facts)] if own else heard)


def _canonical(field: str, value: Any, spec: ToolSpec) -> Any:
    if field not in spec.fields:
        raise ValueError(f"{field} is no field of {spec.name}")
    try:
        return matching.canonical(spec.fields[field], value)
    except ValueError as odd:
        raise ValueError(f"{field} is not {odd}") from None


def _strictest(heard: Sequence[Judgement]) -> Judgement:
    ruling = max((each.ruling for each in heard), key=lambda each: _STRICTNESS[each])
    # A denial stands for itself; otherwise every layer's rule applied, and counts the call.
    told = [each for each in heard if each.ruling is ruling] if ruling is Ruling.DENY else heard
    lines = dict.fromkeys(line for each in told for line in each.rule.splitlines())
    return Judgement(ruling, "\n".join(lines))


def _of_layer(name: str, values: Mapping[str, Any], spec: ToolSpec, layer: Layer, facts: Facts) -> Judgement:
    rules = [rule for rule in layer if rule.applies(name, values)]
    for rule in rules:
        if rule.effect is Ruling.DENY:
            return Judgement(Ruling.DENY, text(rule))
    asking = [rule for rule in rules if rule.effect is Ruling.ASK]
    if asking:
        spent = _spent(asking, facts)
        told = "\n".join(text(rule) for rule in asking)
        return Judgement(Ruling.DENY, SPENT + text(spent[0])) if spent else Judgement(Ruling.ASK, told)
    return _of_allowing(rules, values, spec, facts)


def _of_allowing(rules: Sequence[Grant], values: Mapping[str, Any], spec: ToolSpec, facts: Facts) -> Judgement:
    spent = _spent(rules, facts)
    if left := [_of_rule(rule, values, spec, facts) for rule in rules if rule not in spent]:
        return min(left, key=lambda each: _STRICTNESS[each.ruling])
    return Judgement(Ruling.DENY, SPENT + text(spent[0]) if spent else NO_RULE)


def _spent(rules: Sequence[Grant], facts: Facts) -> list[Grant]:
    return [rule for rule in rules if rule.calls is not None and facts.made.get(text(rule), 0) >= rule.calls]


def _of_rule(rule: Grant, values: Mapping[str, Any], spec: ToolSpec, facts: Facts) -> Judgement:
    approved = rule.preapproved and (rule.calls is not None or spec.risk is not Risk.GRAVE)
    why = _why_ask(spec, facts, approved=approved, named=True, exact=_is_exact(rule, values, spec))
    return _allow_or_ask(text(rule), why)


def _of_nobody(spec: ToolSpec, facts: Facts) -> Judgement:
    why = _why_ask(spec, facts, approved=False, named=False, exact=False)
    return _allow_or_ask(f"no rules; the risk of {spec.name} is {spec.risk.name.lower()}", why)


def _allow_or_ask(rule: str, why: str | None) -> Judgement:
    return Judgement(Ruling.ASK, f"{rule}\n{why}") if why else Judgement(Ruling.ALLOW, rule)


def _why_ask(spec: ToolSpec, facts: Facts, *, approved: bool, named: bool, exact: bool) -> str | None:
    if facts.leaks and spec.open_world and not (exact and spec.effect is Effect.READ):
        return WHY_LEAK
    if approved or spec.name in facts.granted:
        return None
    if spec.risk is Risk.GRAVE:
        return WHY_GRAVE
    if spec.risk is Risk.CHANGES:
        return WHY_RISK
    return WHY_NEW_HOST if spec.open_world and not named else None


def _is_exact(rule: Grant, values: Mapping[str, Any], spec: ToolSpec) -> bool:
    hosts = [field for field, kind in spec.fields.items() if kind is Matching.HOST and field in values]
    return bool(hosts) and all(
        any(matching.names_exactly(matcher, wanted, each) for matcher, wanted in rule.when.get(field, {}).items())
        for field in hosts
        for each in (values[field] if isinstance(values[field], list) else [values[field]])
    )


def permits(
    fields: Mapping[str, Any], spec: ToolSpec, layers: Iterable[Layer], facts: Facts, own: Layer = ()
) -> Callable[[Mapping[str, Any]], bool]:
    """Answers whether a call that may be made may also be made with other values of some fields, such as the host of
    a redirect. What a person would have to be asked about is not permitted; what was decided already is."""
    settled = tuple(layers)

    def permitted(other: Mapping[str, Any]) -> bool:
        changed = {**fields, **other}
        return changed == dict(fields) or judge(spec.name, changed, spec, settled, facts, own).ruling is Ruling.ALLOW

    return permitted


def visible(spec: ToolSpec, layers: Iterable[Layer]) -> bool:
    """Whether some call of the tool could be made: only then is the model shown it."""
    return all(_is_open(spec.name, layer) for layer in layers if layer)


def _is_open(name: str, layer: Layer) -> bool:
    rules = [rule for rule in layer if rule.names(name)]
    shut = any(rule.effect is Ruling.DENY and not rule.when for rule in rules)
    return not shut and any(rule.effect is not Ruling.DENY for rule in rules)
