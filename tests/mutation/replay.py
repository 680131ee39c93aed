"""A pytest plugin: what workers answered is recorded once, and replayed without a framework.

MUTANTS_REPLIES names the file. It is written where there is none, and read where there is.
"""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.mutation.areas import ROOT

_file = Path(os.environ["MUTANTS_REPLIES"])
_replies: dict[str, bytes] = {}
_call = Workers.call


def _key(kind: str, target: str, argument: msgspec.Struct) -> str:
    # MindSpore has two workers that share its measurements, as they come.
    worker = kind.removesuffix("-second")
    asked = msgspec.json.encode(argument).decode().replace(str(ROOT), "")
    return f"{worker} {target} {asked}"


def _record(
    self: Workers, kind: Any, target: str, argument: msgspec.Struct, reply: type[Any]
) -> Any:
    answer = _call(self, kind, target, argument, reply)
    if not isinstance(answer, Lost):
        _replies[_key(kind, target, argument)] = msgspec.msgpack.encode(answer)
    return answer


def _replay(
    self: Workers, kind: Any, target: str, argument: msgspec.Struct, reply: type[Any]
) -> Any:
    answer = _replies.get(_key(kind, target, argument))
    if answer is None:
        pytest.skip(f"no reply of {kind} to {target} was recorded")
    return msgspec.msgpack.decode(answer, type=reply)


def pytest_configure() -> None:
    """Puts itself between the tests and the workers."""
    if _file.exists():
        _replies.update(msgspec.msgpack.decode(_file.read_bytes(), type=dict[str, bytes]))
        Workers.call = _replay  # type: ignore[method-assign]
    else:
        Workers.call = _record  # type: ignore[method-assign]


def pytest_sessionfinish() -> None:
    """Writes what was recorded."""
    if not _file.exists():
        _file.parent.mkdir(parents=True, exist_ok=True)
        _file.write_bytes(msgspec.msgpack.encode(_replies))
