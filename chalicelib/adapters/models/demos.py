"""What `demo-researcher`, `demo-analyst` and `demo-assistant` say. Their words are written here, their calls are real.

Every figure is made up, as is Larkfield.
"""

from __future__ import annotations

from chalicelib.adapters.models.scripted import Script, Turn
from chalicelib.core.reply import AskedCall

_TYPING = 0.03
"""Seconds a word."""

_PAGE = "https://larkfield.invalid/market/honey"
"""A name that never resolves (RFC 6761), so that the demo is the same with and without internet."""

_NOTE = """\
Honey at Larkfield market, in crowns a week: 180, 210, 260, 310. Source: the demo's own script.
Not checked: https://larkfield.invalid/market/honey could not be read."""

RESEARCHER: Script = (
    Turn(
        text="First the market's own page. Larkfield is an invented town, so this shows how I take a dead link.\n\n",
        pace=_TYPING,
        calls=(AskedCall("http_get", {"url": _PAGE}),),
    ),
    Turn(
        text="Now what I noted before.\n\n",
        pace=_TYPING,
        calls=(AskedCall("notes", {"action": "list"}),),
    ),
    Turn(
        text="My figures do not come from that page, and I say so: I keep what I have, and where it is from.\n\n",
        pace=_TYPING,
        calls=(AskedCall("notes", {"action": "write", "name": "research/larkfield-honey", "text": _NOTE}),),
    ),
    Turn(
        text="Let me read it once more as it was kept.\n\n",
        pace=_TYPING,
        calls=(AskedCall("notes", {"action": "read", "name": "research/larkfield-honey"}),),
    ),
    Turn(
        text="""\
## Honey at Larkfield market

**Noted.** Takings rose in each of four weeks, from 180 crowns to 310.

**Not checked.** The market's page is none of the sources; the log shows what became of the call.

**Next.** The note `research/larkfield-honey` is kept for later runs, which will find it in their list.
""",
        pace=_TYPING,
    ),
)

_TAKINGS = """\
import csv

STALLS = {"apples": [420, 450, 390, 480], "bread": [610, 590, 640, 620], "honey": [180, 210, 260, 310]}
COLOURS = {"apples": "#7a9a3a", "bread": "#b0793a", "honey": "#e0b020"}

with open("out/takings.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["week", *STALLS])
    rows.writerows([week, *row] for week, row in enumerate(zip(*STALLS.values()), 1))

bars = []
for week in range(4):
    top = 300.0
    for name, takings in STALLS.items():
        height = takings[week] / 5
        top -= height
        place = f'x="{40 + 90 * week}" y="{top:g}" width="60" height="{height:g}"'
        bars.append(f'<rect {place} fill="{COLOURS[name]}"><title>{name}: {takings[week]}</title></rect>')
    bars.append(f'<text x="{70 + 90 * week}" y="318" text-anchor="middle">week {week + 1}</text>')
with open("out/takings.svg", "w") as file:
    file.write('<svg xmlns="http://www.w3.org/2000/svg" width="410" height="330" font-family="sans-serif">')
    file.write("".join(bars) + "</svg>")

for name, takings in STALLS.items():
    print(f"{name:7} {sum(takings):5} crowns, week 4 over week 1: {takings[3] / takings[0] - 1:+.0%}")
"""

_CHECK = """\
import csv

with open("in/takings.csv", newline="") as file:
    weeks = [sum(int(row[name]) for name in ("apples", "bread", "honey")) for row in csv.DictReader(file)]
print("weeks:", weeks, "all:", sum(weeks))
print("each week above the one before:", all(a < b for a, b in zip(weeks, weeks[1:])))
"""

_NOTHING_COMPUTED = Turn(
    text="The code did not run to its end; the call above says why. So there is nothing that I could tell you: figures "
    "that no code has printed would be a guess.\n",
    pace=_TYPING,
)

ANALYST: Script = (
    Turn(
        text="Three stalls, four weeks. I compute the totals, and leave a table and a chart.\n\n",
        pace=_TYPING,
        calls=(AskedCall("run_code", {"code": _TAKINGS}),),
    ),
    Turn(
        text="Now the whole of each week, from the table that the first piece of code has left.\n\n",
        pace=_TYPING,
        calls=(AskedCall("run_code", {"code": _CHECK, "files": ["takings.csv"]}),),
        if_failed=_NOTHING_COMPUTED,
    ),
    Turn(
        text="""\
## Four weeks at Larkfield market

**Result.** 5160 crowns in all, and each week more than the one before. Bread earns the most, 2460. Honey earns the \
least, 960, and grows the most: by 72 %.

**How.** One piece of code summed the stalls, another one the weeks, from the table. Both stand in the log, with what \
they printed; `takings.csv` and `takings.svg` are files of this run.

**What to doubt.** The figures are invented, and four weeks are few.
""",
        pace=_TYPING,
        if_failed=_NOTHING_COMPUTED,
    ),
)

_LETTER = """\
Hello Anna,

week 4 at Larkfield market brought 1410 crowns, 120 more than the week before. Honey had its best week so far.
Shall we give it a second table?

Kind regards
"""

ASSISTANT: Script = (
    Turn(
        text="Let me see what I was told before.\n\n",
        pace=_TYPING,
        calls=(AskedCall("notes", {"action": "list"}),),
    ),
    Turn(
        text="I keep this week's figures, so that the next letter can go on from them.\n\n",
        pace=_TYPING,
        calls=(AskedCall("notes", {"action": "write", "name": "larkfield/week-4", "text": "1410 crowns, honey 310."}),),
    ),
    Turn(
        text="Now a letter to Anna. It goes out once somebody has allowed it, and not before.\n\n",
        pace=_TYPING,
        calls=(
            AskedCall(
                "send_email",
                {"to": ["anna@larkfield.example"], "subject": "Larkfield market, week 4", "body": _LETTER},
            ),
        ),
    ),
    Turn(
        text="The mail went out as it was allowed; the call above says to whom. Its figures are in the note "
        "`larkfield/week-4`.\n",
        pace=_TYPING,
        if_failed=Turn(
            text="I can't say that the mail went out; the call above says why. I do not try again. The note "
            "`larkfield/week-4` has its figures.\n",
            pace=_TYPING,
        ),
    ),
)
