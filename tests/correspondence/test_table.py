"""The table of correspondences: how rows are found, what differs by default, how values are translated."""

import math
from collections import Counter
from collections.abc import Mapping

import pytest

from explorer.correspondence.records import UNKNOWN, Absent, Row, Value
from explorer.correspondence.table import (
    LAYERS,
    OPS,
    ROWS,
    family_of,
    layer_of,
    names,
    row_between,
    rows_named,
)
from explorer.correspondence.translation import differences, same_as, translate
from explorer.correspondence.ways import COMPANIONS, WAYS, NoCounterpartError, same_ends
from explorer.model.engines import Framework
from explorer.words.correspondences import FACTS, UNMATCHED
from explorer.words.correspondences import WAYS as WORDS
from tests.correspondence.settings import settings


def row_of(mindspore: str, torch: str = "") -> Row:
    """The row of a callable of MindSpore's."""
    rows = [row for row in ROWS if row.mindspore == mindspore and torch in row.torch]
    assert len(rows) == 1
    return rows[0]


def test_it_has_at_least_sixty_families_and_forty_layers() -> None:
    assert len({row.family for row in OPS}) >= 60
    assert len({row.mindspore for row in LAYERS}) >= 40


def test_no_two_rows_pair_the_same_callables() -> None:
    pairs = Counter((row.mindspore, row.torch) for row in ROWS)
    assert [pair for pair, count in pairs.items() if count > 1] == []


def test_every_way_every_fact_and_every_unmatched_argument_is_used_and_in_words() -> None:
    ways = {argument.way for row in ROWS for argument in row.arguments}
    assert ways == set(WAYS)
    assert ways - {"same"} == set(WORDS)
    assert {fact for row in ROWS for fact in row.facts} == set(FACTS)
    assert {name for row in ROWS for name in row.unmatched} == set(UNMATCHED)


def test_companions_are_the_ways_that_yield_nothing() -> None:
    nothing = {name for name, way in WAYS.items() if way.to_torch is WAYS["of_swap"].to_torch}
    assert nothing == COMPANIONS


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.mindspore}-{row.torch}" for row in ROWS])
def test_a_translation_there_and_back_means_the_same(row: Row) -> None:
    for setting in settings(row, 4):
        shapes = tuple(arrays[0].shape for arrays in setting.mindspore.operands.values())
        there = translate(row, "mindspore", setting.mindspore.arguments, shapes)
        if there.pads_first:
            continue
        back = translate(row, "torch", there.arguments, shapes)
        again = translate(row, "mindspore", back.arguments, shapes)
        assert _plain(again.arguments) == pytest.approx(_plain(there.arguments))


def _plain(arguments: Mapping[str, object]) -> dict[str, object]:
    """Arguments with one number for numbers that are the same."""
    plain: dict[str, object] = {}
    for name, value in arguments.items():
        is_one = isinstance(value, tuple) and len(set(value)) == 1 and name == "padding"
        plain[name] = value[0] if is_one and isinstance(value, tuple) else value
        if not isinstance(plain[name], (int, float)):
            plain[name] = str(plain[name])
    return plain


@pytest.mark.parametrize(
    ("framework", "op", "family"),
    [
        ("torch", "aten.gelu.default", "gelu"),
        ("torch", "aten::gelu", "gelu"),
        ("torch", "aten.relu_.default", "relu"),
        ("torch", "aten._native_batch_norm_legit_no_training.default", "batch_norm"),
        ("torch", "aten.sum.dim_IntList", "sum"),
        ("torch", "aten.convolution.default", "conv2d"),
        ("torch", "aten.native_batch_norm.default", "batch_norm"),
        ("torch", "torch.nn.functional.gelu", "gelu"),
        ("mindspore", "GeLU", "gelu"),
        ("mindspore", "PrimFunc_ReLU", "relu"),
        ("mindspore", "Conv2D", "conv2d"),
        ("mindspore", "BatchNorm", "batch_norm"),
        ("mindspore", "LayerNorm", "layer_norm"),
        ("mindspore", "ReduceMean", "mean"),
        ("mindspore", "SumExt", "sum"),
        ("mindspore", "MatMul", "matmul"),
        # The table lacks these.
        ("mindspore", "MakeTuple", None),
        ("torch", "aten.detach.default", None),
        ("torch", "GeLU", None),
    ],
)
def test_the_family_of_an_op_is_found_by_its_name_in_a_graph(
    framework: Framework, op: str, family: str | None
) -> None:
    row = family_of(framework, op)
    assert (row and row.family) == family


@pytest.mark.parametrize(
    ("mindspore", "torch", "here"),
    [
        ("Conv2D", "aten.convolution.default", "ops.Conv2D"),
        ("Conv3D", "aten.convolution.default", "ops.conv3d"),
        ("GeLU", "aten.gelu.default", "ops.gelu"),
        ("ReduceSum", "aten.sum.dim_IntList", "ops.ReduceSum"),
        ("Gather", "aten.embedding.default", "ops.gather"),
        ("Gather", "aten.index_select.default", "ops.Gather"),
        ("Transpose", "aten.transpose.int", "ops.transpose"),
        # Their work is not the same.
        ("Conv2D", "aten.gelu.default", None),
        ("MakeTuple", "aten.gelu.default", None),
    ],
)
def test_two_ops_of_graphs_have_a_row_in_common(
    mindspore: str, torch: str, here: str | None
) -> None:
    row = row_between(mindspore, torch)
    assert (row and row.mindspore) == here


def test_a_layer_is_found_by_its_class() -> None:
    found = [layer_of("mindspore", "Dense"), layer_of("torch", "torch.nn.modules.linear.Linear")]
    assert [row.torch for row in found if row] == ["torch.nn.Linear"] * 2
    assert layer_of("torch", "Dense") is None


@pytest.mark.parametrize(
    ("name", "callables"),
    [
        ("nn.GELU", ["nn.GELU"]),
        ("torch.nn.GELU", ["nn.GELU"]),
        ("mindspore.nn.GELU", ["nn.GELU"]),
        ("mint.nn.GELU", ["nn.GELU"]),
        ("aten.gelu", ["ops.gelu"]),
        ("GeLU", ["ops.gelu"]),
        ("Conv2D", ["ops.Conv2D"]),
        ("gelu", ["ops.gelu", "nn.GELU"]),
        ("nn.functional.gelu", ["ops.gelu"]),
        ("Linear", ["nn.Dense"]),
        ("ops.transpose", ["ops.transpose", "ops.transpose"]),
        ("nothing", []),
    ],
)
def test_rows_are_found_by_any_of_their_names(name: str, callables: list[str]) -> None:
    assert [row.mindspore for row in rows_named(name)] == callables


def test_every_name_finds_a_row() -> None:
    assert [name for name in names() if not rows_named(name)] == []


# What differs by default


@pytest.mark.parametrize(
    ("name", "differing", "as_torch", "as_mindspore"),
    [
        (
            "nn.GELU",
            ["approximate"],
            "nn.GELU(approximate=False)",
            "torch.nn.GELU(approximate='tanh')",
        ),
        (
            "nn.Conv2d",
            ["pad_mode", "has_bias"],
            "nn.Conv2d(..., pad_mode='valid', has_bias=True)",
            "torch.nn.Conv2d(..., padding='same', bias=False)",
        ),
        (
            "nn.LeakyReLU",
            ["alpha"],
            "nn.LeakyReLU(alpha=0.01)",
            "torch.nn.LeakyReLU(negative_slope=0.2)",
        ),
        ("nn.BatchNorm2d", [], "", ""),
        ("nn.Dropout", [], "", ""),
        ("ops.topk", [], "", ""),
        ("nn.Softmax", ["axis"], "", "torch.nn.Softmax(dim=-1)"),
        ("ops.var", ["ddof"], "ops.var(..., ddof=1)", "torch.var(..., correction=0)"),
        (
            "nn.MaxPool2d",
            ["kernel_size", "stride"],
            "nn.MaxPool2d(stride=kernel_size)",
            "torch.nn.MaxPool2d(kernel_size=1, stride=1)",
        ),
    ],
)
def test_defaults_that_differ_and_what_to_write(
    name: str, differing: list[str], as_torch: str, as_mindspore: str
) -> None:
    row = row_of(name)
    assert [difference.argument.mindspore for difference in differences(row)] == differing
    assert same_as(row, "mindspore") == as_torch
    assert same_as(row, "torch") == as_mindspore


def test_what_is_written_for_the_other_s_defaults_is_their_translation() -> None:
    for row in ROWS:
        for difference in differences(row):
            argument = difference.argument
            theirs = argument.torch_default
            if difference.for_mindspore and argument.way == "same" and argument.torch:
                assert difference.for_mindspore[argument.mindspore] == theirs
            assert argument.mindspore_default is not UNKNOWN


# Single ways


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "ends"),
    [
        (5, 3, 1, 1, (1, 1)),
        (6, 3, 2, 1, (0, 1)),
        (5, 2, 1, 1, (0, 1)),
        (7, 3, 1, 2, (2, 2)),
        (4, 1, 2, 1, (0, 0)),
    ],
)
def test_same_padding_makes_the_result_as_long_as_the_input_over_the_stride(
    size: int, kernel: int, stride: int, dilation: int, ends: tuple[int, int]
) -> None:
    assert same_ends(size, kernel, stride, dilation) == ends
    whole = size + sum(ends) - dilation * (kernel - 1) - 1
    assert whole // stride + 1 == -(-size // stride)


def test_padding_that_is_not_the_same_at_both_ends_comes_first() -> None:
    row = row_of("nn.Conv2d")
    given = {"in_channels": 4, "out_channels": 6, "kernel_size": 3, "stride": 2}
    translated = translate(row, "mindspore", given, ((1, 4, 6, 5),))
    assert translated.arguments["padding"] == 0
    # The last axis, 5 long, has one on both sides; the other, 6 long, one after.
    assert (translated.pads_first, translated.fill) == ((1, 1, 0, 1), 0.0)
    pool = translate(
        row_of("nn.MaxPool2d"), "mindspore", {"kernel_size": 2, "pad_mode": "same"}, ((1, 4, 6, 5),)
    )
    assert (pool.pads_first, pool.fill) == ((0, 1, 0, 1), -math.inf)
    assert translate(row, "mindspore", given, ((1, 4, 5, 5),)).arguments["padding"] == (1, 1)


def test_what_a_graph_says_of_an_op_is_translated_to_the_other_s_names() -> None:
    row = row_between("Conv2D", "aten.convolution.default")
    assert row is not None
    given: dict[str, Value] = {
        "out_channel": 6,
        "kernel_size": (3, 3),
        "mode": 1,
        "pad_mode": "pad",
        "pad": (1, 1, 1, 1),
        "stride": (1, 1, 2, 2),
        "dilation": (1, 1, 1, 1),
        "group": 1,
    }
    there = translate(row, "mindspore", given, ((1, 4, 8, 8), (6, 4, 3, 3)))
    assert there.arguments == {
        "bias": None,
        "stride": (2, 2),
        "padding": (1, 1),
        "dilation": (1, 1),
        "transposed": False,
        "output_padding": (0, 0),
        "groups": 1,
    }


IN_AND_OUT: dict[str, Value] = {"in_channels": 1, "out_channels": 1}


@pytest.mark.parametrize(
    ("name", "source", "given", "refused"),
    [
        ("nn.Dense", "mindspore", {**IN_AND_OUT, "activation": "relu"}, "activation='relu'"),
        ("nn.LRN", "torch", {"size": 4}, "size=4"),
        ("nn.AvgPool2d", "mindspore", {"kernel_size": 2, "pad_mode": "same"}, "pad_mode='same'"),
        (
            "nn.Conv2d",
            "mindspore",
            {**IN_AND_OUT, "kernel_size": 2, "pad_mode": "pad", "padding": (1, 2, 1, 1)},
            r"padding=\(1, 2, 1, 1\)",
        ),
        ("ops.transpose", "mindspore", {"dims": (1, 2, 0, 3)}, r"dims=\(1, 2, 0, 3\)"),
    ],
)
def test_a_value_without_counterpart_is_refused(
    name: str, source: Framework, given: dict[str, Value], refused: str
) -> None:
    row = next(row for row in ROWS if row.mindspore == name and row.family != "permute")
    with pytest.raises(NoCounterpartError, match=refused):
        translate(row, source, given, ((1, 1, 4, 4),))


def test_a_required_argument_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        translate(row_of("nn.Dense"), "mindspore", {})


def test_an_axis_that_pytorch_chooses_depends_on_the_rank() -> None:
    row = row_of("nn.Softmax")
    chosen = [translate(row, "torch", {}, ((2,) * rank,)).arguments["axis"] for rank in range(5)]
    assert chosen == [0, 0, 1, 0, 1]


def test_no_default_is_unknown_where_both_sides_have_the_argument() -> None:
    for row in ROWS:
        for argument in row.arguments:
            if argument.mindspore and argument.torch:
                assert Absent.UNKNOWN not in (argument.mindspore_default, argument.torch_default)
