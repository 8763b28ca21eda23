"""What a run of code is given, what comes out of it, and what ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chalicelib.core.code import MOST_INPUT, Limit
from tests.patience import await_true
from tests.sandbox.host import descendants
from tests.sandbox.jobs import CLOCK, a_job, each_wall, sandbox

ROOT = Path(__file__).parents[2]


@each_wall
def test_files_go_in_and_come_out(wall: str) -> None:
    code = """
import os
print(open("in/a table.csv").read())
os.makedirs("out/deep/er")
open("out/deep/er/made.bin", "wb").write(bytes(range(256)))
"""
    result = sandbox(wall).run(a_job(code, files={"a table.csv": b"1,2"}))

    assert (result.exit, result.stdout, result.backend) == (0, "1,2\n", wall)
    assert result.files == {"deep/er/made.bin": bytes(range(256))}


@each_wall
def test_files_in_cannot_be_changed(wall: str) -> None:
    code = """
for name, mode in (("in/given", "a"), ("in/new", "w")):
    try:
        open(name, mode)
        print("changed")
    except OSError:
        print("held")
"""
    assert sandbox(wall).run(a_job(code, files={"given": b"x"})).stdout == "held\nheld\n"


@each_wall
def test_a_failure_is_told_the_way_python_tells_it(wall: str) -> None:
    result = sandbox(wall).run(a_job("print('so far')\n\ndef f():\n    return 1 / 0\n\nf()\n"))

    assert (result.exit, result.stdout, result.limit) == (1, "so far\n", None)
    assert result.stderr.startswith(
        'Traceback (most recent call last):\n  File "main.py", line 6, in <module>\n    f()\n'
    )
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")


@each_wall
@pytest.mark.parametrize(
    ("code", "exit_"), [("exit(7)", 7), ("import os; os._exit(8)", 8), ("raise SystemExit('no')", 1), ("def (", 1)]
)
def test_the_exit_is_the_code_s_own(code: str, exit_: int, wall: str) -> None:
    assert sandbox(wall).run(a_job(code)).exit == exit_


@each_wall
def test_what_was_said_before_the_end_is_kept(wall: str) -> None:
    result = sandbox(wall).run(a_job("print('begun')\nwhile True: pass", cpu=1))

    assert (result.exit, result.stdout, result.limit) == (None, "begun\n", Limit.CPU)


@each_wall
def test_files_out_are_few_and_small_and_the_rest_is_counted(wall: str) -> None:
    code = """
for number in range(6):
    open(f"out/{number}", "w").write("x" * 10)
open("out/large", "w").write("x" * 1000)
"""
    result = sandbox(wall).run(a_job(code, files_out=4, file_bytes=100))

    assert sorted(result.files) == ["0", "1", "2", "3"]
    assert (result.dropped, result.limit) == (3, Limit.FILES)


@each_wall
def test_a_stopped_run_is_dead_within_a_second(wall: str) -> None:
    stop = threading.Event()
    began: list[float] = []

    def order() -> None:
        began.append(time.monotonic())
        stop.set()

    threading.Timer(1.0, order).start()
    result = sandbox(wall).run(a_job("import time\nprint('begun')\ntime.sleep(60)", stop=stop))

    assert time.monotonic() - began[0] < 1
    assert (result.exit, result.stdout, result.limit) == (None, "begun\n", Limit.STOPPED)


@each_wall
def test_the_deadline_ends_it_as_the_wall_limit_does(wall: str) -> None:
    sandbox(wall).wall()
    began = time.monotonic()

    assert sandbox(wall).run(a_job("import time; time.sleep(60)", seconds=1)).limit is Limit.WALL
    assert time.monotonic() - began < 3


PARENT = """
import sys
from tests.sandbox.jobs import a_job, sandbox
made = sandbox(sys.argv[1])
made.wall()
print("proved", flush=True)
made.run(a_job("import time; time.sleep(600)", wall=600, seconds=600))
"""


@each_wall
def test_the_death_of_the_parent_is_the_death_of_the_code(wall: str) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, wall], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    try:
        with parent.stdout as told:
            assert told.readline() == b"proved\n"
        await_true(lambda: len(descendants(parent.pid)) >= 2, 20)
        group = descendants(parent.pid)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()

    await_true(lambda: not [pid for pid in group if Path(f"/proc/{pid}").exists()], 2)


@each_wall
def test_runs_side_by_side_do_not_meet(wall: str) -> None:
    results: list[str] = []

    def run(number: int) -> None:
        code = f"import time\nopen('mine', 'x').write('{number}')\ntime.sleep(0.3)\nprint(open('mine').read())"
        results.append(sandbox(wall).run(a_job(code)).stdout)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(results) == ["0\n", "1\n", "2\n", "3\n"]


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a/b", "", ".hidden", "x" * 101, "new\nline"])
def test_a_file_in_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="can't be the name of a file"):
        a_job("", files={name: b""})


def test_more_than_a_lambda_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="may have"):
        a_job("", files={"large": bytes(MOST_INPUT + 1)})
    assert a_job("x", files={"large": bytes(MOST_INPUT - 1)}).deadline > CLOCK.now()
