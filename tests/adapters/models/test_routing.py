"""Which provider is asked."""

from __future__ import annotations

import pytest

from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import ScriptedModel, Turn
from chalicelib.core.errors import ModelRefused
from tests.adapters.models.a_call import a_request
from tests.virtual_time import VirtualTime

MODEL = RoutedModel(
    {
        "one": ScriptedModel({"a": (Turn(text="one a"),)}, VirtualTime()),
        "two": ScriptedModel({"a": (Turn(text="two a"),), "b:c": (Turn(text="two b:c"),)}, VirtualTime()),
    }
)


@pytest.mark.parametrize(("model", "text"), [("one:a", "one a"), ("two:a", "two a"), ("two:b:c", "two b:c")])
def test_the_word_before_the_first_colon_is_the_provider(model: str, text: str) -> None:
    assert "".join(chunk for chunk in MODEL.call(a_request(model=model)).chunks() if isinstance(chunk, str)) == text


@pytest.mark.parametrize("model", ["three:a", "one:", "one", ":a", ""])
def test_a_model_that_no_provider_has_is_refused_when_its_chunks_are_wanted(model: str) -> None:
    call = MODEL.call(a_request(model=model))

    with pytest.raises(ModelRefused, match="no provider is configured"):
        list(call.chunks())
    call.close()
