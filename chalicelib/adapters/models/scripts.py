"""The scripts that ship, and what the agent `demo` says. Every figure in it is made up."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.adapters.models.demos import ANALYST, ASSISTANT, RESEARCHER
from chalicelib.adapters.models.scripted import Script, Turn
from chalicelib.core.reply import AskedCall

_TYPING = 0.06
"""Seconds a word: the whole of `market` takes about twelve, long enough to cancel it half way."""

_ANALYSIS = """\
## Four weeks at Larkfield market

Larkfield is an invented town and its figures are made up. Takings of three stalls, in crowns:

| week | apples | bread | honey | all |
|------|--------|-------|-------|-----|
| 1 | 420 | 610 | 180 | 1210 |
| 2 | 450 | 590 | 210 | 1250 |
| 3 | 390 | 640 | 260 | 1290 |
| 4 | 480 | 620 | 310 | 1410 |

**The whole.** The market took 5160 crowns, and each week more than the one before: week 4 stands 17 % above week 1.

**The stalls.** Bread earns the most, 48 % of everything, and hardly moves. Apples follow with 34 %. Honey brings only \
19 %, yet it is the one that grows, from 180 to 310, by 72 %.

**What moved.** Of the 200 crowns that week 4 has over week 1, honey brought 130, apples 60 and bread 10. The smallest \
stall made two thirds of the growth.

**What to doubt.** Four weeks are few. Apples fell by 13 % in week 3 and came back, so one wet Saturday may weigh as \
much as a trend.

**Next.** Give honey a second table for a month, leave the others as they are, and look again.
"""

MARKET: Script = (
    Turn(
        text="Let me first note at what time this analysis is made.\n\n",
        pace=_TYPING,
        calls=(AskedCall("current_time", {"timezone": "UTC"}),),
    ),
    Turn(text=_ANALYSIS, pace=_TYPING),
)

SCRIPTS: Mapping[str, Script] = {
    "market": MARKET,
    "researcher": RESEARCHER,
    "analyst": ANALYST,
    "assistant": ASSISTANT,
}
