"""Exceptions as records: what is cut from a message, and which line of the scenario is named."""

from pathlib import Path
from typing import Literal

import pytest

from explorer.engines.failures import LONGEST, Statement, failure
from explorer.model.failures import Failure


def stated(message: str) -> Statement:
    return Statement(message.split("\n-- stack", maxsplit=1)[0])


def raised_in(path: Path, message: str) -> Exception:
    """An exception with a frame on line 3 of a file."""
    try:
        exec(compile(f"\n\nraise ValueError({message!r})", str(path), "exec"))
    except ValueError as error:
        return error
    raise AssertionError


def record(
    path: Path, message: str, prefer: Literal["message", "traceback"] = "message"
) -> Failure:
    return failure(raised_in(path, message), str(path), stated, prefer)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return tmp_path / "net.py"


def test_a_message_ends_where_the_stack_begins_and_keeps_its_line_breaks(net: Path) -> None:
    reason = record(net, "\n no grad\nfor x \n-- stack\nframe\n-- stack\nframe")
    assert (reason.type, reason.message) == ("ValueError", "no grad\nfor x")


def test_folders_of_paths_are_cut_and_what_only_looks_like_one_stays(net: Path) -> None:
    reason = record(net, "see /usr/lib/python/site.py and 'a/b/c', 1/2, x./y/z")
    assert reason.message == "see site.py and 'a/b/c', 1/2, x./y/z"


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1])
def test_a_message_has_a_greatest_length(net: Path, length: int) -> None:
    assert record(net, "x" * length).message == "x" * LONGEST


@pytest.mark.parametrize(
    ("prefer", "message", "line"),
    [
        ("message", "at {}:11 and {}:12", 12),
        ("traceback", "at {}:11", 3),
        ("message", 'File "{}", line 21, in construct', 21),
        ("message", "at other.py:11", 3),
        ("message", "at /elsewhere/net.py:11", 3),
        ("traceback", "at other.py:11", 3),
    ],
)
def test_the_innermost_line_of_the_preferred_kind_counts_and_the_other_stands_in(
    net: Path, prefer: Literal["message", "traceback"], message: str, line: int
) -> None:
    assert record(net, message.replace("{}", str(net)), prefer).source == f"net.py:{line}"


@pytest.mark.parametrize("prefer", ["message", "traceback"])
def test_a_line_of_another_file_is_none_of_the_scenario_s(
    net: Path, tmp_path: Path, prefer: Literal["message", "traceback"]
) -> None:
    error = raised_in(tmp_path / "other.py", "no grad")
    assert failure(error, str(net), stated, prefer).source == ""


def test_only_the_message_can_name_a_line_that_no_frame_passed(net: Path, tmp_path: Path) -> None:
    error = raised_in(tmp_path / "other.py", f"at {net}:8")
    assert failure(error, str(net), stated, "traceback").source == "net.py:8"
