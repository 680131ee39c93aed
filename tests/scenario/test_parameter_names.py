"""PyTorch's names and layouts of what a MindSpore net holds."""

import pytest

from explorer.scenario.layouts import KNOWN, Step, known_cell, layout_of, torch_name

RENAMES = {"cell.kernel": "conv.weight", "V_l2": "table", "norm": "bn", "norm.inner": "deep.er"}
TRANSPOSED = (Step("transpose", (1, 0)),)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bn.gamma", "bn.weight"),
        ("bn.beta", "bn.bias"),
        ("bn.moving_mean", "bn.running_mean"),
        ("bn.moving_variance", "bn.running_var"),
        ("table.embedding_table", "table.weight"),
        ("fc.weight", "fc.weight"),
        ("w", "w"),
        ("gamma", "weight"),
        ("cell.kernel", "conv.weight"),
        ("norm.gamma", "bn.weight"),
        ("norm.moving_mean", "bn.running_mean"),
        ("norm.inner.gamma", "deep.er.weight"),
        ("norms.gamma", "norms.weight"),
    ],
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


def test_the_scenario_s_layout_comes_before_the_known_one() -> None:
    cells = {"conv": KNOWN["Conv1d"]}

    def layout(layouts: dict[str, tuple[Step, ...]]) -> tuple[Step, ...]:
        return layout_of("conv.weight", "c.weight", cells, layouts)

    assert layout({}) == (Step("squeeze", (2,)),)
    for name in ("conv.weight", "c.weight"):
        assert layout({name: TRANSPOSED}) == TRANSPOSED
    assert layout_of("conv.bias", "conv.bias", cells, {}) == ()


def test_the_layout_of_a_known_cell_is_found_at_any_depth() -> None:
    cells = {"body.conv": KNOWN["Conv1dTranspose"]}
    assert layout_of("body.conv.weight", "w", cells, {}) == (Step("squeeze", (2,)),)
    assert layout_of("conv.weight", "w", cells, {}) == ()


def test_every_known_cell_says_where_it_can_be_read() -> None:
    for name, cell in KNOWN.items():
        assert f", {name}" in cell.source
        assert cell.source.startswith("mindspore/nn/layer/")


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_cell_has_other_names_or_layouts_than_the_module(name: str) -> None:
    cell = KNOWN[name]
    assert {*cell.names, *cell.layouts}
    assert all(own != name_there for own, name_there in cell.names.items())
