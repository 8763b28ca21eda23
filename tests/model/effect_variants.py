"""The rules for effects and for what people are asked, each taken out: what goes wrong then is what the rule is for."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.core import approvals, calls
from chalicelib.core.permissions import Judgement, Ruling
from chalicelib.core.tools import Effect
from chalicelib.usecases import gate
from tests.model import patches
from tests.model import scenarios as worlds
from tests.model.variants import Variant, in_world

EFFECT_VARIANTS = (
    # Section 5: exactly what was promised, once.
    Variant(
        "tool.started before the effect",
        in_world(worlds.PAYMENT),
        "before tool.started stands in the log",
        patches.effect_first,
    ),
    Variant(
        "the irreversible call that is never made again",
        in_world(worlds.PAYMENT, ticks=1, crashes=1),
        "an irreversible call is started twice",
        lambda patch: patch.setattr(Effect, "repeatable", property(lambda effect: True)),
    ),
    Variant(
        "the look at deadline and lease right before the effect",
        in_world(worlds.PAYMENT, ticks=1, twins=1),
        "a tool has its effect after its outcome was written down",
        patches.no_look_before_the_effect,
    ),
    Variant(
        "the wait for a dead worker's deadline",
        in_world(worlds.LAGGING, ticks=1, sweeps=1),
        "a tool has its effect after its outcome was written down",
        lambda patch: patch.setattr(calls, "_safe_from", patches.nothing),
    ),
    Variant(
        "the margin for a clock that is behind",
        in_world(worlds.LAGGING, ticks=1, sweeps=1),
        "a tool has its effect after its outcome was written down",
        lambda patch: patch.setattr(calls, "MARGIN", timedelta()),
    ),
    # Section 5: what people are asked.
    Variant(
        "the question before a risky call",
        in_world(worlds.QUESTION),
        "a risky call is made that nobody approved",
        lambda patch: patch.setattr(gate, "judge", lambda *asked: Judgement(Ruling.ALLOW, "")),
    ),
    Variant(
        "the decision that stands",
        in_world(worlds.QUESTION, approves=1, denies=1),
        "a question is answered twice",
        patches.decide_again,
    ),
    Variant(
        "the question that goes with its answer",
        in_world(worlds.QUESTION, approves=1),
        "lists other questions than its log has open",
        lambda patch: patch.setattr(approvals, "asks_after", lambda asks, *told: asks),
    ),
    Variant(
        "the questions that an end closes",
        in_world(worlds.QUESTION_CANCELLED, cancels=1),
        "lists other questions than its log has open",
        patches.questions_outlive,
    ),
    Variant(
        "the person who is asked before a payment is made again",
        in_world(worlds.OUTCOME, ticks=1, crashes=1),
        "an irreversible call is started twice",
        patches.retry_unasked,
    ),
)
