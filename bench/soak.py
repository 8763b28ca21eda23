"""Five hundred runs through one local cloud, fifty at a time, some cancelled, their followers dropped: `make soak`.

Every run must end, none be stuck, and the memory be flat: what the last hundred runs add is compared with what the
hundred before them added. moto keeps what it is given, so the tables grow; what must not grow is what a run leaves
behind besides.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from tests.stories.conftest import Town, a_town, with_scripts

AGENTS = ("brief", "five", "slow")
GLANCE = 1.5
"""Real seconds between two polls: fifty followers share two cores with all of the cloud."""


def main() -> int:
    """Run the soak; 1 if a run did not end as it should."""
    asked = _arguments()
    random = Random(asked.seed)
    ended: Counter[str] = Counter()
    memory = [_resident()]
    with a_town({}, ticking=True) as place, ThreadPoolExecutor(asked.at_once) as hands:
        with_scripts()
        plans = [(random.choice(AGENTS), random.random() < 0.2, random.random()) for _ in range(asked.runs)]
        for number, status in enumerate(hands.map(lambda plan: _live(place, *plan), plans), start=1):
            ended[status] += 1
            if number % 100 == 0:
                memory.append(_resident())
                print(f"{number:>4} runs ended: {dict(ended)}; resident {memory[-1] / 2**20:.0f} MiB", flush=True)
    growth = [later - earlier for earlier, later in itertools.pairwise(memory)]
    print(f"MiB for each hundred runs: {[round(each / 2**20) for each in growth]} (seed {asked.seed})")
    return 0 if set(ended) <= {"done", "cancelled"} and sum(ended.values()) == asked.runs else 1


def _live(place: Town, agent: str, cancelled: bool, patience: float) -> str:
    """One run, followed by somebody who hangs up and comes back for every poll, as long as it takes."""
    run_id = place.submit(agent)
    glance, seen = threading.Event(), list[int]()
    while True:
        glance.wait(GLANCE)
        page = place.poll(run_id, seen[-1] if seen else -1, wait=0)
        seen += [event["seq"] for event in page["events"]]
        if cancelled and len(seen) > 3 + 10 * patience:
            cancelled = place.cancel(run_id).is_error
        if page["done"]:
            break
    return str(page["status"]) if seen == [*range(len(seen))] else "broken"


def _resident() -> int:
    """Bytes of this process that are in memory now, where the system says so; the peak elsewhere."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
