"""The agents of accounts in the table."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.core.errors import VersionTaken
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, an_agent
from tests.core.recipes import everything

FIRST = an_agent()
SECOND = an_agent(version=2, prompt="Be quick.")
RIVAL = an_agent(version=2, prompt="Be slow.")


def test_every_version_stays_and_the_newest_one_is_listed(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)
    own_agents.keep("acme", SECOND)

    assert [own_agents.version("acme", "clerk", number) for number in (1, 2)] == [FIRST, SECOND]
    assert own_agents.newest("acme", "clerk") == (SECOND, True)
    assert list(own_agents.listed("acme")) == [SECOND]


def test_an_agent_comes_back_with_everything_that_it_was_defined_by(own_agents: DynamoAgentStore) -> None:
    agent = everything()

    own_agents.keep("acme", agent)

    assert own_agents.version("acme", agent.name, agent.version) == agent
    assert list(own_agents.listed("acme")) == [agent]


def test_two_who_make_the_same_version_make_one_and_the_other_is_told(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)
    own_agents.keep("acme", SECOND)

    with pytest.raises(VersionTaken):
        own_agents.keep("acme", RIVAL)

    assert own_agents.version("acme", "clerk", 2) == SECOND
    assert own_agents.newest("acme", "clerk") == (SECOND, True)


def test_no_version_is_left_out(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)

    with pytest.raises(VersionTaken):
        own_agents.keep("acme", an_agent(version=3))

    assert own_agents.version("acme", "clerk", 3) is None


def test_a_version_whose_answer_was_lost_is_ones_own_even_when_another_followed(
    own_agents: DynamoAgentStore, line: BadLine
) -> None:
    line.meets(answer_lost(meanwhile=lambda: own_agents.keep("acme", SECOND)))

    own_agents.keep("acme", FIRST)

    assert own_agents.version("acme", "clerk", 1) == FIRST
    assert own_agents.newest("acme", "clerk") == (SECOND, True)


def test_an_unlisted_agent_is_there_and_on_no_list(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)

    assert own_agents.unlist("acme", "clerk", NOON)
    assert own_agents.unlist("acme", "clerk", NOON + timedelta(hours=1))

    assert own_agents.newest("acme", "clerk") == (FIRST, False)
    assert list(own_agents.listed("acme")) == []
    assert not own_agents.unlist("acme", "nobody", NOON)
    assert not own_agents.unlist("globex", "clerk", NOON)


def test_a_new_version_is_listed_again_and_so_is_an_old_one_if_asked(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)
    own_agents.unlist("acme", "clerk", NOON)
    own_agents.list_again("acme", FIRST)
    assert list(own_agents.listed("acme")) == [FIRST]

    own_agents.unlist("acme", "clerk", NOON)
    own_agents.keep("acme", SECOND)
    assert list(own_agents.listed("acme")) == [SECOND]
    with pytest.raises(VersionTaken):
        own_agents.list_again("acme", FIRST)


def test_accounts_do_not_see_each_others_agents(own_agents: DynamoAgentStore) -> None:
    own_agents.keep("acme", FIRST)
    own_agents.keep("globex", an_agent(prompt="Theirs."))

    assert list(own_agents.listed("acme")) == [FIRST]
    assert own_agents.version("globex", "clerk", 1) == an_agent(prompt="Theirs.")
    assert own_agents.version("initech", "clerk", 1) is None
