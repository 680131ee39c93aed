"""Random nets: the same for the same seed, valid by construction, and scenario files that load."""

import ast
import re
from pathlib import Path
from random import Random

import numpy as np
import pytest

from explorer.fuzz.operators import OPERATORS
from explorer.fuzz.program import GREATEST, Program, drawn, pruned, scenario_text
from explorer.model.engines import FRAMEWORKS, GIVEN, NEEDED, Framework
from explorer.scenario.load import load
from tests.support.programs import program, step

DRAWN = [drawn(Random(f"test/{number}")) for number in range(400)]


def test_there_are_eighty_operators_and_more_and_every_one_is_drawn() -> None:
    assert len(OPERATORS) >= 80
    used = {each.operator for net in DRAWN for each in net.steps}
    # Random nets must reach what the table has: one in ten may be missed by four hundred.
    assert len(used) >= 0.9 * len(OPERATORS)


def test_the_same_seed_draws_the_same_net_and_another_one_another() -> None:
    again = [drawn(Random(f"test/{number}")) for number in range(50)]
    assert again == DRAWN[:50]
    others = [drawn(Random(f"other/{number}")) for number in range(50)]
    assert sum(one == other for one, other in zip(DRAWN, others, strict=False)) < 5


def test_nets_vary_in_dtype_order_inputs_and_sharing() -> None:
    assert {net.dtype for net in DRAWN} == {"float16", "float32", "float64"}
    assert {net.order for net in DRAWN} == {1, 2}
    assert {len(net.inputs) for net in DRAWN} == {1, 2, 3}
    assert any(len(set(each.operands)) < len(each.operands) for net in DRAWN for each in net.steps)


def test_names_are_made_before_they_are_used_and_each_result_counts() -> None:
    for net in DRAWN:
        known = set(net.inputs)
        used = set(net.results)
        for each in net.steps:
            assert known.issuperset(each.operands)
            known.add(each.name)
            used.update(each.operands)
        assert used == known  # nothing is without effect


def test_values_of_inputs_fill_their_shapes_and_can_be_read() -> None:
    for net in DRAWN:
        for name, shape in net.inputs.items():
            values = np.array(net.values[name])
            assert values.size == np.prod(shape, dtype=int)
            assert np.isfinite(values).all()
            assert (values != 0).all()
            assert (values * 64 == np.round(values * 64)).all()
            assert (np.abs(values) < GREATEST).all()


def test_a_net_is_drawn_of_operators_that_every_framework_has_and_is_else_the_same() -> None:
    in_all = [drawn(Random(f"test/{number}"), FRAMEWORKS) for number in range(400)]
    changed = 0
    for net, wider in zip(in_all, DRAWN, strict=True):
        for name in net.operators:
            assert OPERATORS[name].is_in(FRAMEWORKS)
        needs_another = not all(OPERATORS[name].is_in(FRAMEWORKS) for name in wider.operators)
        assert net == wider or needs_another
        changed += needs_another
    assert 0 < changed < 40


@pytest.mark.parametrize("frameworks", [NEEDED, FRAMEWORKS])
@pytest.mark.parametrize("number", range(0, 400, 80))
def test_a_net_is_a_scenario_with_the_same_steps_in_each_framework(
    number: int, frameworks: tuple[Framework, ...], tmp_path: Path
) -> None:
    net = drawn(Random(f"test/{number}"), frameworks)
    file = tmp_path / "net.py"
    text = scenario_text(net, "A title", 'What\\was seen: """ and more.', frameworks)
    file.write_text(text, encoding="utf-8")
    scenario = load(file)
    assert [name for name in FRAMEWORKS if scenario.defines(name)] == list(frameworks)
    assert scenario.title == "A title"
    assert "What\\was seen" in scenario.notes
    for name, array in scenario.inputs().items():
        assert array.dtype == net.dtype
        assert array.shape == net.inputs[name]
    functions = {
        each.name: each
        for each in ast.parse(file.read_text()).body
        if isinstance(each, ast.FunctionDef)
    }
    for framework in frameworks:
        stored: set[str] = set()
        arguments: list[str] = []
        for each in ast.walk(functions[f"{framework}_net"]):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                stored.add(each.id)
            if isinstance(each, ast.FunctionDef) and each.name == "net":
                arguments = [argument.arg for argument in each.args.args]
        assert {each.name for each in net.steps} <= stored
        given = ["parameters"] if framework in GIVEN else []
        assert arguments == [*given, *net.inputs]


def test_what_no_result_needs_is_pruned_and_one_input_stays() -> None:
    net = program(
        step("t0", "sin", "a"),
        step("t1", "cos", "b"),
        inputs={"a": (3,), "b": (3,)},
        values={"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0, 3.0)},
        results={"t0": "sum"},
    )
    small = pruned(net)
    assert [each.name for each in small.steps] == ["t0"]
    assert list(small.inputs) == list(small.values) == ["a"]
    alone: Program = pruned(program(step("t0", "sin", "a"), results={"a": "sum"}))
    assert alone.steps == ()
    assert list(alone.inputs) == ["a"]


CORNERED = [drawn(Random(f"corners/{number}"), corners=True) for number in range(200)]


def test_with_corners_each_net_has_an_input_that_is_nan_infinite_tied_zero_or_empty() -> None:
    corners: set[str] = set()
    for net in CORNERED:
        kinds = {kind for values in net.values.values() for kind in corners_of(values)}
        assert kinds
        corners |= kinds
    assert corners == {"nan", "inf", "zero", "tied", "empty"}


def corners_of(values: tuple[float, ...]) -> list[str]:
    """The corners that an input has."""
    if not values:
        return ["empty"]
    # Other values are multiples of 1/64 whose size is 1/8 at least.
    kinds = {"nan": np.isnan(values), "inf": np.isinf(values), "zero": np.array(values) == 0}
    kinds["tied"] = np.abs(values) == 1
    return [kind for kind, has in kinds.items() if has.any()]


@pytest.mark.parametrize("name", ["nan", "inf"])
def test_a_net_with_a_corner_is_a_scenario_that_has_it(name: str, tmp_path: Path) -> None:
    net = program(step("t0", "sin", "a"), values={"a": (float(name), 1.0, 2.0)})
    file = tmp_path / f"{name}.py"
    file.write_text(scenario_text(net, "A title", ""), encoding="utf-8")
    np.testing.assert_equal(load(file).inputs()["a"][0], np.float32(name))


@pytest.mark.parametrize("operator", ["recomputed", "own_backward"])
def test_what_an_operator_needs_is_defined_once_before_the_net(operator: str) -> None:
    net = program(step("t0", operator, "a"), step("t1", operator, "t0"))
    text = scenario_text(net, "A title", "", FRAMEWORKS)
    _, *nets = re.split(r"def \w+_net", text)
    assert len(nets) == len(FRAMEWORKS)
    for written in nets:
        # A function, or an object that is called: both are given the operator's name.
        assert len(re.findall(rf"^    (def )?{operator}( = |\()", written, re.MULTILINE)) == 1
