"""The local cloud comes up, goes down, and comes up again with what it had."""

from __future__ import annotations

import json
import os
import threading
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from chalicelib.ports.clock import Clock
from infra.local import functions, stepfunctions
from infra.local.cloud import LocalCloud
from infra.local.speed import VARIABLE, FastTime
from tests.infra.local import standin
from tests.infra.local.conftest import BringUp, options
from tests.infra.local.test_stepfunctions import begin, hand


def test_once_the_cloud_is_closed_nothing_runs_and_nothing_is_said_of_it(
    bring_up: BringUp, caplog: pytest.LogCaptureFixture
) -> None:
    cloud = bring_up()
    lambdas = cloud.lambdas
    lambdas.close()
    caplog.clear()
    assert cloud.invoke("show", {}).payload["errorType"] == "Lambda.ServiceException"
    assert caplog.messages == []


def test_no_process_is_left_behind() -> None:
    with LocalCloud(options(processes=True)) as cloud:
        pid = cloud.invoke("show", {}).payload["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_whose_time_runs_faster_has_all_of_a_functions_seconds(bring_up: BringUp) -> None:
    time = FastTime(3, datetime.now(UTC) - timedelta(hours=1))
    world = {"PAWL_TABLE": "runs", "PAWL_BUCKET": "payloads", "PAWL_STATE_MACHINE_ARN": "arn:loop"}
    cloud = bring_up(processes=True, clock=time, environment={VARIABLE: str(time), **world})
    assert 0 < cloud.invoke("show", {}).payload["left"] <= 60_000


def table_of(cloud: LocalCloud) -> str:
    (table,) = cloud.client("dynamodb").list_tables()["TableNames"]
    name: str = table
    return name


def bucket_of(cloud: LocalCloud) -> str:
    names = [each["Name"] for each in cloud.client("s3").list_buckets()["Buckets"]]
    (found,) = (name for name in names if name.startswith("pawl-"))
    return str(found)


def an_item(sk: str, **attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"S": sk}, **attributes}


def items(cloud: LocalCloud) -> list[Any]:
    found: list[Any] = cloud.client("dynamodb").scan(TableName=table_of(cloud))["Items"]
    return found


def test_one_cloud_after_another_begins_empty() -> None:
    for _ in range(2):
        with LocalCloud(options()) as cloud:
            assert items(cloud) == []
            cloud.client("dynamodb").put_item(TableName=table_of(cloud), Item=an_item("one"))


def test_the_environment_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "my own")
    before = dict(os.environ)
    with LocalCloud(options(environment={"ADDED": "1"})):
        assert os.environ["ADDED"] == "1"
        assert os.environ["AWS_ACCESS_KEY_ID"] != "my own"
        assert "AWS_PROFILE" not in os.environ
    assert dict(os.environ) == before


def test_a_cloud_that_does_not_come_up_leaves_nothing_behind() -> None:
    def refuse(clock: Clock) -> AbstractContextManager[object]:
        raise LookupError("no such setting")

    before = dict(os.environ)
    with pytest.raises(LookupError, match="no such setting"), LocalCloud(options(around=refuse)):
        pass
    assert dict(os.environ) == before
    with LocalCloud(options()) as cloud:
        assert items(cloud) == []


def test_data_are_there_again(tmp_path: Path) -> None:
    with LocalCloud(options(data=tmp_path)) as cloud:
        dynamodb, table = cloud.client("dynamodb"), table_of(cloud)
        dynamodb.put_item(TableName=table, Item=an_item("kept", b={"B": b"\xff"}))
        dynamodb.put_item(TableName=table, Item=an_item("deleted"))
        dynamodb.delete_item(TableName=table, Key=an_item("deleted"))
        s3, bucket = cloud.client("s3"), bucket_of(cloud)
        s3.put_object(Bucket=bucket, Key="kept", Body=b"\x00body")
        s3.put_object(Bucket=bucket, Key="deleted", Body=b"")
        s3.delete_object(Bucket=bucket, Key="deleted")
    with LocalCloud(options(data=tmp_path)) as cloud:
        assert items(cloud) == [an_item("kept", b={"B": b"\xff"})]
        s3, bucket = cloud.client("s3"), bucket_of(cloud)
        assert [each["Key"] for each in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["kept"]
        assert s3.get_object(Bucket=bucket, Key="kept")["Body"].read() == b"\x00body"
    with LocalCloud(options(data=tmp_path)) as cloud:
        assert len(items(cloud)) == 1


def test_an_execution_that_ran_when_the_cloud_went_is_told_of_as_aborted(tmp_path: Path) -> None:
    with LocalCloud(options(data=tmp_path)) as cloud:
        cloud.await_end(begin(cloud, "end"))
        arn = begin(cloud, "wait 3600", "end")
        hand(cloud).await_sleeper(3600)
    assert standin.heard.empty()
    with LocalCloud(options(data=tmp_path)):
        detail = standin.heard.get(timeout=10)["detail"]
        assert (detail["executionArn"], detail["status"]) == (arn, "ABORTED")
        assert json.loads(detail["input"]) == {"script": ["wait 3600", "end"]}


def test_it_is_told_of_again_until_somebody_could_deal_with_it(tmp_path: Path) -> None:
    with LocalCloud(options(data=tmp_path)) as cloud:
        begin(cloud, "wait 3600")
        hand(cloud).await_sleeper(3600)
    standin.faults.append(ValueError("the table is gone"))
    for _ in range(2):
        with LocalCloud(options(data=tmp_path)):
            assert standin.heard.get(timeout=10)["detail"]["status"] == "ABORTED"
    with LocalCloud(options(data=tmp_path)) as cloud:
        cloud.invoke("tell", "the next thing heard")
    assert standin.heard.get(timeout=10) == "the next thing heard"


def test_a_lambda_that_is_still_at_work_when_the_cloud_goes_down_cannot_write_what_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.local.cloud.PATIENCE", 0)
    outcome: SimpleQueue[Any] = SimpleQueue()
    begun, closing = threading.Event(), threading.Event()

    def work_on(name: str) -> Any:
        def write_late(event: Any, context: Any) -> None:
            begun.set()
            closing.wait()
            cloud.client("dynamodb").put_item(TableName=table, Item=an_item("late"))

        return write_late if name.endswith(".show") else functions.resolve(name)

    stop_all = stepfunctions.stop_all

    def stop_once_it_has_written() -> None:
        closing.set()
        worker.join()
        stop_all()

    monkeypatch.setattr(stepfunctions, "stop_all", stop_once_it_has_written)
    with LocalCloud(options(data=tmp_path, resolve=work_on)) as cloud:
        table = table_of(cloud)
        worker = threading.Thread(target=lambda: outcome.put(cloud.invoke("show", {})))
        worker.start()
        assert begun.wait(10)
    assert outcome.get(timeout=10).payload["errorType"] == "JournalClosed"
    with LocalCloud(options(data=tmp_path)) as cloud:
        assert items(cloud) == []
