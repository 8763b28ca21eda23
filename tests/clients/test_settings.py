"""Where the server is and which key opens it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pawl_client import Misconfigured
from pawl_client.settings import load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with a key, and a directory deep inside it."""
    (tmp_path / ".pawl").mkdir()
    (tmp_path / ".pawl" / "key").write_text("from-file\n")
    (tmp_path / "src" / "deep").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("option", "env", "url"),
    [
        (None, {}, "http://127.0.0.1:8787"),
        (None, {"PORT": "9000"}, "http://127.0.0.1:9000"),
        (None, {"PORT": "9000", "PAWL_URL": "https://pawl.example"}, "https://pawl.example"),
        ("http://10.0.0.1", {"PORT": "9000", "PAWL_URL": "https://pawl.example"}, "http://10.0.0.1"),
    ],
)
def test_the_nearest_word_about_the_url_counts(
    option: str | None, env: dict[str, str], url: str, tmp_path: Path
) -> None:
    assert load(option, {**env, "PAWL_KEY": "k"}, tmp_path).url == url


def test_the_key_is_found_in_a_directory_above(home: Path) -> None:
    found = load(None, {}, home / "src" / "deep")
    assert (found.key, found.key_from) == ("from-file", str(home / ".pawl" / "key"))


def test_the_environment_rules_over_the_file(home: Path) -> None:
    found = load(None, {"PAWL_KEY": "from-env"}, home)
    assert (found.key, found.key_from) == ("from-env", "PAWL_KEY")


def test_an_empty_key_is_none(home: Path) -> None:
    (home / "src" / ".pawl").mkdir()
    (home / "src" / ".pawl" / "key").write_text("\n")
    assert load(None, {"PAWL_KEY": " "}, home / "src").key == "from-file"


def test_without_a_key_one_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"Set PAWL_KEY.*make run.*pawl keys create"):
        load(None, {}, tmp_path)


def test_a_key_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    (tmp_path / ".pawl" / "key").mkdir(parents=True)
    with pytest.raises(Misconfigured, match="cannot read the API key in"):
        load(None, {}, tmp_path)
