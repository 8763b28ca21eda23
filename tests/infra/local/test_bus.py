"""What the local cloud does by itself."""

from __future__ import annotations

from typing import Any

from tests.infra.local import standin
from tests.infra.local.conftest import BringUp
from tests.infra.local.test_stepfunctions import MACHINE, ends, hand


def an_item(sk: str, **attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"S": sk}, **attributes}


def test_the_minute_is_ticked_by_the_local_clock(bring_up: BringUp) -> None:
    cloud = bring_up(ticking=True)
    for _ in range(2):
        hand(cloud).await_sleeper(60)
        hand(cloud).turn(59)
        assert standin.heard.empty()
        hand(cloud).turn(1)
        event = standin.heard.get(timeout=10)
        assert (event["source"], event["detail-type"], event["detail"]) == ("aws.events", "Scheduled Event", {})
    assert event["time"] == "2026-01-01T00:02:00Z"
    assert event["resources"][0].startswith("arn:aws:events:us-east-1:123456789012:rule/")
    assert (event["region"], event["account"]) == ("us-east-1", "123456789012")


def test_what_has_outlived_its_time_is_deleted_by_the_minute(bring_up: BringUp) -> None:
    cloud = bring_up(ticking=True, template=standin.template(Stream=standin.STREAM))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    assert client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["AttributeName"] == "expires_at"
    until = {"N": str(int(cloud.clock.now().timestamp()) + 30)}
    client.put_item(TableName=table, Item=an_item("old", expires_at=until))
    client.put_item(TableName=table, Item=an_item("young"))
    hand(cloud).await_sleeper(60)
    hand(cloud).turn(60)
    heard: list[Any] = []
    while "REMOVE" not in heard:
        heard += [record["eventName"] for record in standin.heard.get(timeout=10).get("Records", ())]
    assert [item["sk"]["S"] for item in client.scan(TableName=table)["Items"]] == ["young"]


def test_another_state_machine_is_not_told_of(bring_up: BringUp) -> None:
    cloud = bring_up(parameters={"Machine": "another-loop"})
    standin.faults.append(ValueError("no"))
    client = cloud.client("stepfunctions")
    other = MACHINE.replace("standin-loop", "another-loop")
    arn = client.start_execution(stateMachineArn=other, name="one", input='{"script": ["end"]}')["executionArn"]
    assert ends(cloud, arn) == "FAILED"
    cloud.invoke("tell", "the next thing heard")
    assert standin.heard.get(timeout=10) == "the next thing heard"
