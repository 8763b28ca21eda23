"""The agents that come built in. Agents that an account defines itself come later, beside these."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.agent import Agent

DEMO = Agent(
    name="demo",
    description="Plays a short market analysis word by word, with one tool call; needs no model provider.",
    prompt="You analyse small data sets.",
    model="scripted:market",
    tools=("current_time",),
)


def chat(model_name: str) -> Agent:
    """The agent that talks to the configured provider's model of that name."""
    return Agent(
        name="chat",
        description="Answers questions with the configured language model.",
        prompt=(
            "You are a careful assistant. Answer the question briefly and in plain words. "
            "Use a tool when the answer depends on it, and use what it told you. "
            "If you do not know, say so."
        ),
        model=f"openai:{model_name}",
        tools=("current_time",),
    )


class ConfiguredAgents:
    """`chat_model` is the provider's name of a model, None where no provider is configured."""

    def __init__(self, chat_model: str | None) -> None:
        agents = (DEMO,) if chat_model is None else (DEMO, chat(chat_model))
        self._agents = {agent.name: agent for agent in sorted(agents, key=lambda agent: agent.name)}

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return self._agents.get(name)

    def all(self, account_id: str) -> Sequence[Agent]:
        return tuple(self._agents.values())
