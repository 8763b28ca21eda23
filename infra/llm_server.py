"""llama.cpp's server with a chat format that streams tool calls. Runs in the model's own environment, see infra/llm.py.

None of the formats that come with it will do: the one for function calls raises when it is to stream one, and it shows
the model no tool's result. This one lets the model choose, once for each thing a user says, between call and answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama_cpp import LlamaGrammar  # type: ignore[import-not-found]
from llama_cpp.llama_chat_format import register_chat_completion_handler  # type: ignore[import-not-found]
from llama_cpp.server.__main__ import main  # type: ignore[import-not-found]

FORMAT = "streamed-tools"
END = "<|im_end|>"
LONGEST_ANSWER = 400
"""In tokens: a model this small does not always find an end."""

LONGEST_ARGUMENTS = 200
HOW_TO_CALL = (
    "Functions are listed below. If the question is about what a function does, write `call NAME: ARGUMENTS`, "
    'for instance `call get_weather: {"city": "Oslo"}` for the weather in Oslo. If it is not, write `answer: TEXT`.'
)

_numbers = itertools.count(1)

Said = Mapping[str, Any]
Delta = tuple[Said, str | None]
"""What came, and the reason of the end if it is the last."""


def chat(
    *, llama: Any, messages: Sequence[Said], tools: Sequence[Said] | None = None, stream: bool = False, **options: Any
) -> Iterator[dict[str, Any]]:
    """The chunks of one completion."""
    if not stream:
        raise ValueError("this server only streams")
    sampling = {name: options[name] for name in ("temperature", "top_p", "max_tokens") if options.get(name) is not None}
    offered = tools if tools and messages[-1]["role"] == "user" else []
    return _chunks(llama, messages, offered, sampling)


def _chunks(llama: Any, messages: Sequence[Said], tools: Sequence[Said], sampling: Said) -> Iterator[dict[str, Any]]:
    prompt = "".join(map(_shown, _with_tools(messages, tools))) + "<|im_start|>assistant\n"
    name = f"chatcmpl-{next(_numbers)}"
    chosen = _choose(llama, prompt, tools) if tools else None
    if chosen is None:
        deltas = _answer(llama, prompt + ("answer: " if tools else ""), sampling)
    else:
        deltas = _call(llama, prompt, chosen, name)
    for delta, finish in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield {"id": name, "object": "chat.completion.chunk", "choices": [choice]}


def _answer(llama: Any, prompt: str, sampling: Said) -> Iterator[Delta]:
    yield {"role": "assistant", "content": ""}, None
    for text, finish in _texts(llama, prompt, {"max_tokens": LONGEST_ANSWER, **sampling}):
        yield {"content": text}, finish


def _call(llama: Any, prompt: str, chosen: Said, name: str) -> Iterator[Delta]:
    head = {"id": f"call_{name}", "type": "function", "function": {"name": chosen["name"], "arguments": ""}}
    yield {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **head}]}, None
    grammar = LlamaGrammar.from_json_schema(json.dumps(chosen["parameters"]), verbose=False)
    sampling = {"temperature": 0.0, "max_tokens": LONGEST_ARGUMENTS, "grammar": grammar}
    for text, finish in _texts(llama, f"{prompt}call {chosen['name']}: ", sampling):
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
        yield delta, "tool_calls" if finish == "stop" else finish


def _choose(llama: Any, prompt: str, tools: Sequence[Said]) -> Said | None:
    """The function that the model wants to call, None if it wants to answer."""
    starts: dict[str, Said | None] = {f"call {tool['function']['name']}:": tool["function"] for tool in tools}
    starts["answer:"] = None
    grammar = LlamaGrammar.from_string(f"root ::= {' | '.join(map(json.dumps, starts))}", verbose=False)
    chosen = llama.create_completion(prompt, max_tokens=50, temperature=0.0, grammar=grammar)["choices"][0]["text"]
    return starts[chosen]


def _texts(llama: Any, prompt: str, options: Said) -> Iterator[tuple[str, str | None]]:
    for part in llama.create_completion(prompt, stream=True, stop=[END], **options):
        choice = part["choices"][0]
        yield choice["text"], choice["finish_reason"]


def _with_tools(messages: Sequence[Said], tools: Sequence[Said]) -> Iterator[Said]:
    yield from (message for message in messages if message["role"] == "system")
    if tools:
        listed = "\n".join(json.dumps(tool["function"]) for tool in tools)
        yield {"role": "system", "content": f"{HOW_TO_CALL}\n{listed}"}
    yield from (message for message in messages if message["role"] != "system")


def _shown(message: Said) -> str:
    """One message in the model's own format. It knows no role for tools: the user says what they returned."""
    role, content = message["role"], message.get("content") or ""
    if role == "tool":
        role, content = "user", f"The function's result: {content}\nNow answer my question with it."
    for call in message.get("tool_calls") or []:
        content += f"call {call['function']['name']}: {call['function']['arguments']}"
    return f"<|im_start|>{role}\n{content}{END}\n"


if __name__ == "__main__":
    register_chat_completion_handler(FORMAT)(chat)
    main()
