"""Where the server is and which key opens it: from options, the environment, and `.pawl/key`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pawl_client.errors import Misconfigured

DEFAULT_PORT = "8787"
KEY_FILE = Path(".pawl", "key")

_HOW_TO_GET_A_KEY = (
    "no API key. Set PAWL_KEY, or call this from a directory in which `make run` was started (it writes .pawl/key). "
    "Somebody with an admin key makes one with: pawl keys create NAME --scope read --scope run"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """`key_from` says where the key was found, for a server that refuses it."""

    url: str
    key: str
    key_from: str


def load(url: str | None, env: Mapping[str, str], here: Path) -> Settings:
    """The settings of a call from the directory `here`. Raises `Misconfigured`."""
    key, key_from = _key(env, here)
    return Settings(url or env.get("PAWL_URL") or f"http://127.0.0.1:{env.get('PORT') or DEFAULT_PORT}", key, key_from)


def _key(env: Mapping[str, str], here: Path) -> tuple[str, str]:
    if key := env.get("PAWL_KEY", "").strip():
        return key, "PAWL_KEY"
    for directory in (here, *here.parents):
        if key := _read(directory / KEY_FILE):
            return key, str(directory / KEY_FILE)
    raise Misconfigured(_HOW_TO_GET_A_KEY)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as fault:
        raise Misconfigured(f"cannot read the API key in {file}: {fault}") from fault
