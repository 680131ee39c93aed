"""The options of a run: each on which the report depends is part of what is wanted of it."""

from typing import Any

import msgspec
import pytest

from explorer.exploration.options import RunOptions, Wanted
from explorer.scenario.load import load
from tests.support.nets import NETS

SCENARIO = load(NETS / "square.py")

CHANGES: dict[str, tuple[Any, str, Any]] = {
    "engines": (("torch-tape",), "engines", ("torch-tape",)),
    "device": ("cuda:1", "device", "cuda:1"),
    "order": (2, "order", 2),
    "case": ("grad(0)", "graph_case", "grad(net, grad_position=0, weights=None, has_aux=False)"),
    "cases": ("structure", "selection", "structure"),
    "prove": (True, "prove", "all"),
}
"""Another value of each option, the field of what is wanted that it changes, and to what."""

OTHERS = {"fresh", "timeout", "request_timeout"}
"""The options that say how a run is made: two whole reports are the same whatever they are."""


def test_without_options_everything_is_wanted() -> None:
    assert RunOptions().wanted(SCENARIO) == Wanted()


def test_these_are_all_options() -> None:
    assert {field.name for field in msgspec.structs.fields(RunOptions)} == {*CHANGES, *OTHERS}
    changed = {field for _, field, _ in CHANGES.values()}
    assert changed == {field.name for field in msgspec.structs.fields(Wanted)}


@pytest.mark.parametrize("name", CHANGES)
def test_an_option_changes_what_is_wanted_and_nothing_else(name: str) -> None:
    value, field, wanted = CHANGES[name]
    expected = msgspec.structs.replace(Wanted(), **{field: wanted})
    assert RunOptions(**{name: value}).wanted(SCENARIO) == expected


def test_how_a_run_is_made_is_no_part_of_what_is_wanted() -> None:
    options = RunOptions(fresh=True, timeout=1.0, request_timeout=2.0)
    assert options.wanted(SCENARIO) == Wanted()
