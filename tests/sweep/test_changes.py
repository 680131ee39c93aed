"""What counts as a change between two sweeps."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.model.errors import UsageError
from explorer.report.json import encode
from explorer.report.schemas import sweep_document
from explorer.sweep.changes import changes, recorded_sweep
from tests.support.sweep_runs import PAIR, row, sweep


def changed(before: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is said to have changed in one row."""
    found = changes(sweep(row("net", **before)), sweep(row("net", **now)))
    assert all(change.name == "net" for change in found)
    return [(change.what, change.before, change.now) for change in found]


def test_time_and_place_are_no_changes() -> None:
    here = {"seconds": 3.0, "host": "a", "from_store": False, "versions": {"torch": "2.13.0"}}
    there = {"seconds": 9.0, "host": "b", "from_store": True, "versions": {"torch": "2.14.0"}}
    assert changed(here, there) == []


def test_another_verdict_is_a_change_with_its_reason() -> None:
    now = {"verdict": "different", "reason": "relu at zero"}
    assert changed({}, now) == [("verdict", "as_expected", "different: relu at zero")]


def test_each_case_that_is_judged_otherwise_is_a_change() -> None:
    before = {"cases": {"a": "match", "b": "match", "gone": "close"}}
    now = {"cases": {"a": "match", "b": "differs", "new": "match"}}
    assert changed(before, now) == [
        ("b", "match", "differs"),
        ("gone", "close", "nothing"),
        ("new", "nothing", "match"),
    ]


def test_fewer_pairs_and_another_divergence_are_changes() -> None:
    fewer = msgspec.structs.replace(PAIR, left="11/14")
    assert changed({"pairs": {"x · y": PAIR}}, {"pairs": {"x · y": fewer}}) == [
        ("x · y: paired", "12/14 and 12/12", "11/14 and 12/12")
    ]
    elsewhere = msgspec.structs.replace(PAIR, divergences=("they part at tanh",))
    assert changed({"pairs": {"x · y": PAIR}}, {"pairs": {"x · y": elsewhere}}) == [
        ("x · y: divergences", "they part at relu", "they part at tanh")
    ]
    further = msgspec.structs.replace(PAIR, divergences=(*PAIR.divergences, "and at exp"))
    assert changed({"pairs": {"x · y": PAIR}}, {"pairs": {"x · y": further}}) == [
        ("x · y: divergences", "they part at relu", "they part at relu; and at exp")
    ]


def test_another_environment_is_no_change_of_itself() -> None:
    in_old = {
        "environments": {"old": {"torch": "2.6.0"}},
        "pairs": {"x@old · y@old": msgspec.structs.replace(PAIR, divergences=("x@old parts",))},
        "findings": ("no graph from x@old",),
    }
    in_older = {
        "environments": {"old": {"torch": "2.2.2"}, "old2": {"mindspore": "2.8.0"}},
        "pairs": {"x@old2 · y@old": msgspec.structs.replace(PAIR, divergences=("x@old2 parts",))},
        "findings": ("no graph from x@old2",),
    }
    assert changed(in_old, in_older) == []
    here = {"pairs": {"x · y": msgspec.structs.replace(PAIR, divergences=("y parts",))}}
    assert changed(here, in_old) == [
        ("x · y: divergences", "y parts", "x parts"),
        ("finding", "nothing", "no graph from x"),
    ]


def test_findings_are_compared_as_sets() -> None:
    assert changed({"findings": ("a", "b")}, {"findings": ("b", "a")}) == []
    assert changed({"findings": ("a", "b")}, {"findings": ("b", "c")}) == [
        ("finding", "a", "nothing"),
        ("finding", "nothing", "c"),
    ]


def test_of_a_job_that_was_lost_nothing_but_that_has_changed() -> None:
    lost = {"verdict": "lost", "reason": "killed", "cases": {"a": "match"}}
    whole = {"cases": {"a": "match", "b": "match"}, "pairs": {"x · y": PAIR}}
    assert changed(lost, whole) == [("verdict", "lost: killed", "as_expected")]
    assert changed(whole, lost) == [("verdict", "as_expected", "lost: killed")]


def test_rows_that_one_sweep_lacks_are_changes_but_not_those_still_to_do() -> None:
    before = sweep(row("old"), row("both"), row("later"))
    now = sweep(row("both"), row("new"), unfinished=("later",))
    found = [(change.name, change.before, change.now) for change in changes(before, now)]
    assert found == [("old", "as_expected", "nothing"), ("new", "nothing", "as_expected")]


def test_a_study_is_told_from_the_scenario_s_cases() -> None:
    before = sweep(row("net"), row("net", study="tape-life", verdict="measured"))
    now = sweep(row("net"), row("net", study="tape-life", verdict="lost"))
    (change,) = changes(before, now)
    assert change.name == "net: tape-life"


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    whole = sweep(row("net", pairs={"x · y": PAIR}, cases={"a": "differs"}), unfinished=("b",))
    file = tmp_path / "sweep.json"
    file.write_bytes(encode(sweep_document(whole, [])))
    assert recorded_sweep(file) == whole


@pytest.mark.parametrize("content", [b"", b"[]", b'{"rows": 3}', b"\xff"])
def test_a_file_that_is_no_sweep_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "sweep.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as a recorded sweep"):
        recorded_sweep(file)
    with pytest.raises(UsageError, match="cannot be read as a recorded sweep"):
        recorded_sweep(tmp_path / "missing.json")
