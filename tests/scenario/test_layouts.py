"""Layouts, there and back, and PyTorch's names and layouts of what a MindSpore net holds."""

import ast
from typing import Any

import numpy as np
import pytest

from explorer.model.errors import UsageError
from explorer.scenario.layouts import (
    KNOWN,
    Step,
    as_entry,
    known_cell,
    layout_of,
    read,
    to_mindspore,
    to_torch,
    torch_name,
    written,
)
from tests.support.tables import rows

NUMBERS = np.arange(24, dtype=np.int16)


@pytest.mark.parametrize(
    ("entry", "shape"),
    [
        ({"transpose": (1, 0)}, (4, 6)),
        ({"transpose": (2, 0, 1)}, (2, 3, 4)),
        ({"reshape": (4, 6)}, (2, 12)),
        ({"squeeze": 1}, (4, 1, 6)),
        ({"transpose": (1, 0), "reshape": (2, 3, 4)}, (4, 6)),
        ({"reshape": (2, 3, 4), "transpose": (0, 2, 1)}, (6, 4)),
        ([{"reshape": (2, 3, 4)}, {"transpose": (1, 0, 2)}, {"reshape": (6, 4)}], (6, 4)),
    ],
)
def test_a_layout_leads_there_and_back(entry: Any, shape: tuple[int, ...]) -> None:
    there = to_torch(NUMBERS.reshape(shape), read(entry))
    assert there.shape != shape or not np.array_equal(there.ravel(), NUMBERS)
    back = to_mindspore(there, read(entry), shape)
    np.testing.assert_array_equal(back, NUMBERS.reshape(shape))
    assert there.dtype == back.dtype == NUMBERS.dtype


def test_steps_are_taken_in_the_order_in_which_they_are_written() -> None:
    one = read({"transpose": (1, 0), "reshape": (12, 2)})
    other = read({"reshape": (12, 2), "transpose": (1, 0)})
    assert to_torch(NUMBERS.reshape(4, 6), one).shape == (12, 2)
    assert to_torch(NUMBERS.reshape(4, 6), other).shape == (2, 12)


@pytest.mark.parametrize(
    "entry",
    [{}, [], [{}], [3], "transpose", {"flip": 1}, {"transpose": "10"}, {"reshape": (2.0, 3)}],
)
def test_what_is_no_layout_is_refused_with_what_is_one(entry: Any) -> None:
    with pytest.raises(UsageError, match="is not a layout; write"):
        read(entry)


def test_a_step_that_the_shape_does_not_allow_is_refused() -> None:
    with pytest.raises(
        UsageError,
        match=r"transpose.*\(2, 1, 0\).* cannot be applied to an array of shape \(4, 6\)",
    ):
        to_torch(NUMBERS.reshape(4, 6), read({"transpose": (2, 1, 0)}))
    with pytest.raises(UsageError, match=r"turns into \(6, 4\), but PyTorch's has \(4, 6\)"):
        to_mindspore(NUMBERS.reshape(4, 6), read({"transpose": (1, 0)}), (4, 6))


def test_a_layout_is_written_as_it_is_read_and_a_step_that_recurs_in_a_list() -> None:
    for entry in ({"transpose": (1, 0)}, {"reshape": [2, 3], "squeeze": 2}):
        assert read(ast.literal_eval(written(read(entry)))) == read(entry)
    steps = read([{"reshape": (2, 3, 4), "transpose": (1, 0, 2)}, {"reshape": (24,)}])
    assert written(steps).startswith('[{"reshape": (2, 3, 4)}')
    assert read(ast.literal_eval(written(steps))) == steps
    # What code that is shown for a result reads again.
    assert read(as_entry(steps)) == steps
    assert as_entry(steps[:2]) == {"reshape": (2, 3, 4), "transpose": (1, 0, 2)}


def test_without_steps_an_array_of_the_same_size_is_reshaped() -> None:
    assert to_mindspore(NUMBERS, (), (4, 1, 6)).shape == (4, 1, 6)
    assert to_mindspore(NUMBERS[:1], (), ()).shape == ()
    with pytest.raises(UsageError, match=r"has shape \(5,\), but PyTorch's has \(24,\)"):
        to_mindspore(NUMBERS, (), (5,))


RENAMES = {"cell.kernel": "conv.weight", "V_l2": "table", "norm": "bn", "norm.inner": "deep.er"}
TRANSPOSED = (Step("transpose", (1, 0)),)


@pytest.mark.parametrize(
    ("path", "name"), rows(__file__, "test_parameter_names_of_mindspore_become_those_of_pytorch")
)
def test_parameter_names_of_mindspore_become_those_of_pytorch(path: str, name: str) -> None:
    assert torch_name(path, path, {}, RENAMES) == name


def test_a_parameter_goes_by_its_own_name_too() -> None:
    assert torch_name("vectors", "V_l2", {}, RENAMES) == "table"
    assert torch_name("vectors", "V_l2", {}, {"vectors": "first", **RENAMES}) == "first"


@pytest.mark.parametrize(
    ("cell", "path", "name"),
    [
        ("PReLU", "act.w", "act.weight"),
        ("BatchNorm3d", "act.bn2d.moving_mean", "act.running_mean"),
        ("TransformerEncoderLayer", "act.dense1.weight", "act.linear1.weight"),
        ("TransformerEncoderLayer", "act.dense2.bias", "act.linear2.bias"),
        ("TransformerDecoderLayer", "act.dense1.weight", "act.linear1.weight"),
        ("TransformerDecoderLayer", "act.dense2.bias", "act.linear2.bias"),
        ("TransformerDecoderLayer", "act.norm3.gamma", "act.norm3.weight"),
    ],
)
def test_a_known_cell_names_its_parameters_as_the_module_does(
    cell: str, path: str, name: str
) -> None:
    assert torch_name(path, path, {"act": KNOWN[cell]}, {}) == name
    assert torch_name(path, path, {"act": KNOWN[cell]}, {"act": "a.b"}) == name.replace(
        "act", "a.b"
    )


def test_a_class_that_derives_from_a_known_cell_is_one() -> None:
    assert known_cell(("Conv1d", "_Conv")) is KNOWN["Conv1d"]
    assert known_cell(("Dense", "Cell")) is None


def test_the_scenario_s_layout_comes_before_that_of_a_known_cell_which_may_be_deep() -> None:
    cells = {"conv": KNOWN["Conv1d"]}

    def layout(layouts: dict[str, tuple[Step, ...]]) -> tuple[Step, ...]:
        return layout_of("conv.weight", "c.weight", cells, layouts)

    assert layout({}) == (Step("squeeze", (2,)),)
    for name in ("conv.weight", "c.weight"):
        assert layout({name: TRANSPOSED}) == TRANSPOSED
    assert layout_of("conv.bias", "conv.bias", cells, {}) == ()
    # That of a known cell is found at any depth.
    cells = {"body.conv": KNOWN["Conv1dTranspose"]}
    assert layout_of("body.conv.weight", "w", cells, {}) == (Step("squeeze", (2,)),)
    assert layout_of("conv.weight", "w", cells, {}) == ()


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_cell_has_other_names_or_layouts_than_the_module_and_a_source(name: str) -> None:
    cell = KNOWN[name]
    assert f", {name}" in cell.source
    assert cell.source.startswith("mindspore/nn/layer/")
    assert {*cell.names, *cell.layouts}
    assert all(own != name_there for own, name_there in cell.names.items())
