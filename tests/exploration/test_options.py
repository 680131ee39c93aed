"""The options of a run: each on which the report depends is part of what is wanted of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.exploration.options import RunOptions, Wanted
from explorer.model.engines import STANDARD
from explorer.model.errors import UsageError
from explorer.scenario.load import load
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written

SCENARIO = load(NETS / "square.py")

CHANGES: dict[str, tuple[Any, str, Any]] = {
    "engines": (("torch-tape",), "engines", ("torch-tape",)),
    "device": ("cuda:1", "device", "cuda:1"),
    "order": (2, "order", 2),
    "case": ("grad(0)", "graph_case", "grad(net, grad_position=0, weights=None, has_aux=False)"),
    "cases": ("structure", "selection", "structure"),
    "prove": (True, "prove", "all"),
    "oracle": (False, "oracle", False),
}
"""Another value of each option, the field of what is wanted that it changes, and to what."""

OTHERS = {"fresh", "timeout", "request_timeout"}
"""The options that say how a run is made: two whole reports are the same whatever they are."""


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
    for options in (RunOptions(), RunOptions(fresh=True, timeout=1.0, request_timeout=2.0)):
        assert options.wanted(SCENARIO) == Wanted()


NESTED = "grad(grad(net, 0), 0)"


def test_the_name_of_a_nested_call_says_its_order() -> None:
    wanted = RunOptions(case=NESTED, cases="main").wanted(SCENARIO)
    assert (wanted.graph_case, wanted.order) == (NESTED, 2)
    higher = RunOptions(case=NESTED, order=3).wanted(SCENARIO)
    assert (higher.graph_case, higher.order) == (NESTED, 3)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_command_on_one_case_takes_the_nested_call_of_an_order(order: int) -> None:
    options = RunOptions(order=order, cases="main").of_one_case(SCENARIO)
    assert options.case == "grad(" * order + "net" + ", 0)" * order
    assert options.of_one_case(SCENARIO) == options
    assert RunOptions(cases="main").of_one_case(SCENARIO) == RunOptions(cases="main")


def test_the_first_input_that_is_no_constant_is_nested(tmp_path: Path) -> None:
    text = MINIMAL.replace("{'x': ", "{'c': np.ones(2, np.float32), 'x': ") + "CONSTANTS = ('c',)\n"
    scenario = load(written(tmp_path, text))
    assert RunOptions(order=2).of_one_case(scenario).case == "grad(grad(net, 1), 1)"


@pytest.mark.parametrize(("case", "order"), [("grad(0)", 2), (NESTED, 3)])
def test_a_case_and_an_order_that_contradict_each_other_are_refused(case: str, order: int) -> None:
    with pytest.raises(UsageError, match=f"not {order}; give the case or the order"):
        RunOptions(case=case, order=order).of_one_case(SCENARIO)


def test_a_scenario_without_nested_calls_has_no_order(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + "CASES = ['grad(0)']\n"))
    with pytest.raises(UsageError, match="has no nested call of order 2"):
        RunOptions(order=2).of_one_case(scenario)


JAX_NET = "def jax_net():\n    return None\n"


@pytest.mark.parametrize(
    ("text", "is_there", "joins"),
    [(JAX_NET, True, True), (JAX_NET, False, False), ("", True, False)],
)
def test_jax_joins_where_it_is_found_and_the_scenario_has_a_net_for_it(
    text: str, is_there: bool, joins: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.exploration.options.is_found", lambda framework: is_there)
    scenario = load(written(tmp_path, MINIMAL + text))
    joining = ("jax-tape", "jax-graph") if joins else ()
    assert RunOptions().wanted(scenario).engines == (*STANDARD, *joining)


def test_jax_is_tried_where_its_engine_is_named(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + JAX_NET))
    assert RunOptions(engines=["jax-tape"]).wanted(scenario).engines == ("jax-tape",)
    with pytest.raises(UsageError, match="defines no net for 'jax-tape'"):
        RunOptions(engines=["jax-tape"]).wanted(load(written(tmp_path, MINIMAL)))
