"""The table of correspondences: how rows are found, what differs, how values are translated and compared."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from explorer.environments.known import home_of
from explorer.model.engines import NEEDED, Framework
from explorer.model.graph import Arguments, Layer
from explorer.operators import table
from explorer.operators.comparison import Call, differing, of_layer, other_settings
from explorer.operators.records import Row, Value
from explorer.operators.table import (
    alternatives,
    catalogue,
    correspondences,
    function_of,
    layer_of,
    names,
    row_between,
    rows_named,
)
from explorer.operators.translation import differences, same_as, translate
from explorer.operators.values import other_values
from explorer.operators.ways import COMPANIONS, PADS_FIRST, WAYS, NoCounterpartError, same_ends
from explorer.words.correspondences import FACTS, UNMATCHED
from explorer.words.correspondences import WAYS as WORDS
from tests.operators.settings import settings
from tests.support.tables import rows

ROWS = correspondences()


def row_of(mindspore: str) -> Row:
    """The row of a callable of MindSpore's."""
    (row,) = (row for row in ROWS if row.name("mindspore") == mindspore)
    return row


def test_no_two_rows_pair_the_same_callables() -> None:
    pairs = Counter((row.name("mindspore"), row.name("torch")) for row in ROWS)
    assert [pair for pair, count in pairs.items() if count > 1] == []


def test_every_way_every_fact_and_every_unmatched_argument_is_used_and_in_words() -> None:
    ways = {argument.way() for row in ROWS for argument in row.arguments}
    assert ways == WAYS.keys() | COMPANIONS
    assert ways - {"same"} == set(WORDS)
    assert {fact for row in ROWS for fact in row.facts} == set(FACTS)
    assert {name for row in ROWS for name in row.unmatched} == set(UNMATCHED)


@pytest.mark.parametrize("row", ROWS, ids=["-".join(map(row.name, NEEDED)) for row in ROWS])
def test_a_translation_there_and_back_means_the_same(row: Row) -> None:
    for setting in settings(row, 4):
        shapes = tuple(arrays[0].shape for arrays in setting.mindspore.operands.values())
        there = translate(row, "mindspore", setting.mindspore.arguments, shapes)
        if PADS_FIRST in there:
            continue
        back = translate(row, "torch", there, shapes)
        again = translate(row, "mindspore", back, shapes)
        assert _plain(again) == pytest.approx(_plain(there))


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
    ("mindspore", "torch", "here"),
    [
        ("Conv2D", "aten.convolution.default", "ops.Conv2D"),
        ("Conv3D", "aten.convolution.default", "ops.conv3d"),
        ("GeLU", "aten.gelu.default", "ops.gelu"),
        ("GeLU", "aten::gelu", "ops.gelu"),
        ("PrimFunc_ReLU", "aten.relu_.default", "ops.relu"),
        ("BatchNorm", "aten._native_batch_norm_legit_no_training.default", "ops.batch_norm"),
        ("BatchNorm", "aten.native_batch_norm.default", "ops.BatchNorm"),
        ("ops.gelu", "torch.nn.functional.gelu", "ops.gelu"),
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
    assert (row and row.name("mindspore")) == here


def test_a_user_calls_a_function_for_an_operator_of_graphs() -> None:
    ops: dict[Framework, str] = {"torch": "aten.add.Tensor", "mindspore": "Conv2D", "jax": "log1p"}
    found = [row.name(it) for it, op in ops.items() if (row := function_of(it, op))]
    assert found == ["torch.add", "ops.conv2d", "jnp.log1p"]
    assert function_of("torch", "GeLU") is function_of("torch", "aten.detach.default") is None


def test_what_may_stand_for_an_operator_is_of_its_framework_and_of_each_of_its_groups() -> None:
    assert alternatives("reduce_max") == ("reduce_sum", "reduce_prod", "reduce_min")
    assert len(alternatives("aten.avg_pool2d.default")) == 2
    assert alternatives("aten.detach.default") == ()


@pytest.mark.parametrize(
    ("written", "refused"),
    [
        ('arguments = [{all = "p=1", way.mindspore = "halved"}]', "unknown way: halved"),
        ('arguments = [{all = "p=one"}]', "malformed node or string"),
        ('arguments = [{every = "p=1"}]', "unknown field `every`"),
        ('arguments = "torch.nothing"', "'torch.nothing'"),
        ('modes = "test"', "Invalid enum value 'test'"),
        ('paddle = "paddle.abs"', "unexpected keyword argument 'paddle'"),
    ],
)
def test_a_row_that_is_written_wrongly_is_refused_by_its_name(
    written: str, refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in table.FILES:
        (tmp_path / f"{name}.toml").touch()
    row = f'[[function]]\nfamily = "abs"\ntorch = "torch.abs"\n{written}\n'
    (tmp_path / "arithmetic.toml").write_text(row)
    monkeypatch.setattr(table, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=rf"\[\[function\]\] .*torch.abs.*{refused}"):
        catalogue.__wrapped__()


def test_a_layer_is_found_by_its_class() -> None:
    found = [layer_of("mindspore", "Dense"), layer_of("torch", "torch.nn.modules.linear.Linear")]
    assert [row.name("torch") for row in found if row] == ["torch.nn.Linear"] * 2
    assert layer_of("torch", "Dense") is None


@pytest.mark.parametrize(
    ("name", "callables"), rows(__file__, "test_rows_are_found_by_any_of_their_names")
)
def test_rows_are_found_by_any_of_their_names(name: str, callables: list[str]) -> None:
    assert [row.name("mindspore") for row in rows_named(name)] == callables


def test_every_name_finds_a_row() -> None:
    assert [name for name in names() if not rows_named(name)] == []


IN_JAX = """
import inspect, sys, jax, jax.numpy as jnp
for call, name, default in eval(sys.argv[1]):
    there = inspect.signature(eval(call)).parameters[name].default
    assert there is inspect.Parameter.empty or repr(there) == default, (call, name, there)
"""


@pytest.mark.jax
def test_names_and_defaults_of_jax_are_those_of_its_signatures() -> None:
    rows = [row for row in catalogue() if "jax" in row.columns]
    pairs = [(row, it.sides["jax"]) for row in rows for it in row.arguments if "jax" in it.sides]
    given = [(row.name("jax"), side.name, repr(side.default)) for row, side in pairs]
    assert len(given) > 40
    python = home_of("jax").python or sys.executable
    subprocess.run([python, "-c", IN_JAX, repr(given)], check=True)


# What differs by default


DEFAULTS = """
    nn.GELU | approximate | nn.GELU(approximate=False) | torch.nn.GELU(approximate='tanh')
    nn.Conv2d | pad_mode has_bias | nn.Conv2d(..., pad_mode='valid', has_bias=True)\
 | torch.nn.Conv2d(..., padding='same', bias=False)
    nn.LeakyReLU | alpha | nn.LeakyReLU(alpha=0.01) | torch.nn.LeakyReLU(negative_slope=0.2)
    nn.BatchNorm2d | | |
    nn.Dropout | | |
    ops.topk | | |
    nn.Softmax | axis | | torch.nn.Softmax(dim=-1)
    ops.var | ddof | ops.var(..., ddof=1) | torch.var(..., correction=0)
    nn.MaxPool2d | kernel_size stride | nn.MaxPool2d(stride=kernel_size)\
 | torch.nn.MaxPool2d(kernel_size=1, stride=1)
"""
"""A layer or function, the arguments that differ by default, and what to write for the other's."""


@pytest.mark.parametrize("line", DEFAULTS.strip().splitlines())
def test_defaults_that_differ_and_what_to_write(line: str) -> None:
    name, differing, as_torch, as_mindspore = (cell.strip() for cell in line.split("|"))
    row = row_of(name)
    found = [difference.argument.name("mindspore") for difference in differences(row)]
    assert found == differing.split()
    assert same_as(row, "mindspore") == as_torch
    assert same_as(row, "torch") == as_mindspore


def test_what_is_written_for_the_other_s_defaults_is_their_translation() -> None:
    for row in ROWS:
        for difference in differences(row):
            argument = difference.argument
            theirs = argument.default("torch")
            needed = difference.needed["mindspore"]
            if needed and argument.way() == "same" and argument.name("torch"):
                assert needed[argument.name("mindspore")] == theirs


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
    assert translated["padding"] == 0
    # The last axis, 5 long, has one on both sides; the other, 6 long, one after.
    assert translated[PADS_FIRST] == (1, 1, 0, 1)
    pool = translate(
        row_of("nn.MaxPool2d"), "mindspore", {"kernel_size": 2, "pad_mode": "same"}, ((1, 4, 6, 5),)
    )
    assert pool[PADS_FIRST] == (0, 1, 0, 1)
    assert translate(row, "mindspore", given, ((1, 4, 5, 5),))["padding"] == (1, 1)


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
    assert there == {
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
    row = next(row for row in ROWS if row.name("mindspore") == name and row.family != "permute")
    with pytest.raises(NoCounterpartError, match=refused):
        translate(row, source, given, ((1, 1, 4, 4),))


def test_a_required_argument_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        translate(row_of("nn.Dense"), "mindspore", {})


def test_an_axis_that_pytorch_chooses_depends_on_the_rank() -> None:
    row = row_of("nn.Softmax")
    chosen = [translate(row, "torch", {}, ((2,) * rank,))["axis"] for rank in range(5)]
    assert chosen == [0, 0, 1, 0, 1]


CONV: Arguments = {"stride": 1, "dilation": 1, "kernel_size": (3, 3)}
HERE: Arguments = {**CONV, "pad_mode": "same", "padding": 0, "group": 1, "has_bias": True}
THERE: Arguments = {**CONV, "groups": 1, "bias": True}


def both_ways(
    name: str, here: Arguments, other: str, there: Arguments
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The settings that differ, in MindSpore and in PyTorch, the same from either side."""
    mindspore = Call("mindspore", name, here, is_layer=True)
    torch = Call("torch", other, there, is_layer=True)
    ours, theirs = differing(mindspore, torch)
    assert differing(torch, mindspore) == (theirs, ours)
    return ours, theirs


@pytest.mark.parametrize(
    ("momentum", "differs"), [(0.9, False), (0.1, True), (0.90000001, False), (0.901, True)]
)
def test_a_momentum_is_the_same_the_other_way_round(momentum: float, differs: bool) -> None:
    found = both_ways("nn.BatchNorm2d", {"momentum": momentum}, "nn.BatchNorm2d", {"momentum": 0.1})
    assert found == ((("momentum",), ("momentum",)) if differs else ((), ()))


def test_arguments_of_other_names_are_compared() -> None:
    ours: Arguments = {"epsilon": 1e-7}
    assert both_ways("nn.LayerNorm", ours, "nn.LayerNorm", {"eps": 1e-5}) == (
        ("epsilon",),
        ("eps",),
    )
    assert both_ways("nn.LayerNorm", ours, "nn.LayerNorm", {"eps": 1e-7}) == ((), ())


@pytest.mark.parametrize(
    ("padding", "differs"), [(0, True), (1, False), ((1, 1), False), (2, True)]
)
def test_padding_by_mode_is_the_padding_that_these_windows_take(
    padding: int | tuple[int, ...], differs: bool
) -> None:
    found = both_ways("nn.Conv2d", HERE, "nn.Conv2d", {**THERE, "padding": padding})
    assert found == ((("pad_mode", "padding"), ("padding",)) if differs else ((), ()))


def test_a_bias_that_one_side_lacks_differs() -> None:
    found = both_ways(
        "nn.Conv2d", {**HERE, "has_bias": False}, "nn.Conv2d", {**THERE, "padding": 1}
    )
    assert found == (("has_bias",), ("bias",))


def test_a_value_that_the_other_side_cannot_express_differs() -> None:
    ours, _ = both_ways("nn.ELU", {"alpha": 1.0}, "nn.ELU", {"alpha": 0.5})
    assert ours == ("alpha",)


@pytest.mark.parametrize(("axis", "differs"), [(-1, False), (1, False), (0, True)])
def test_an_axis_may_count_from_either_end(axis: int, differs: bool) -> None:
    ours = Call("mindspore", "Softmax", {"axis": (axis,)}, 2)
    theirs = Call("torch", "aten._softmax.default", {"dim": 1}, 2)
    assert differing(ours, theirs) == ((("axis",), ("dim",)) if differs else ((), ()))


def test_ops_of_one_framework_and_unknown_ones_are_compared_by_name() -> None:
    one, other = (
        Call("torch", "aten.x", {"eps": 1.0, "p": 1}),
        Call("torch", "aten.x", {"eps": 2.0}),
    )
    assert differing(one, other) == (("eps",), ("eps",))
    unknown = Call("mindspore", "Unheard", {"eps": 2.0, "q": 1})
    assert differing(one, unknown) == (("eps",), ("eps",))


def test_settings_are_given_with_their_values_where_the_table_has_the_two_layers() -> None:
    ours, theirs = other_settings(
        of_layer("mindspore", Layer("nn.BatchNorm2d", {"eps": 1e-3, "momentum": 0.9})),
        of_layer("torch", Layer("nn.BatchNorm2d", {"eps": 1e-5, "momentum": 0.1})),
    )
    assert (ours, theirs) == ({"eps": 1e-3}, {"eps": 1e-5})
    known = of_layer("mindspore", Layer("nn.BatchNorm2d", {"eps": 1e-3}))
    assert other_settings(known, of_layer("torch", Layer("Own", {"eps": 1e-5}))) == ({}, {})


@pytest.mark.parametrize(
    ("left", "right", "names"),
    [
        ({"eps": 1e-5, "dim": 1}, {"eps": 1e-3, "dim": 1}, ("eps",)),
        ({"eps": 1e-5}, {"epsilon": 1e-3}, ()),
        ({"stride": (2, 2)}, {"stride": 2}, ()),
        ({"stride": (2, 2)}, {"stride": (1, 1, 2, 2)}, ()),
        ({"padding": (2, 2)}, {"padding": (1, 1, 2, 2)}, ("padding",)),
        ({"stride": (2, 1)}, {"stride": 2}, ("stride",)),
        ({"padding": (1, 1)}, {"padding": 0}, ("padding",)),
        ({"momentum": 0.1}, {"momentum": 0.10000000149011612}, ()),
        ({"other": 2}, {"other": 2.0}, ()),
        ({"value": math.nan}, {"value": math.nan}, ()),
        ({"value": math.inf}, {"value": -math.inf}, ("value",)),
        ({"axis": (0, 1)}, {"axis": (1, 0)}, ("axis",)),
        ({"bias": None}, {"bias": False}, ("bias",)),
    ],
)
def test_values_differ_where_they_mean_something_else(
    left: Arguments, right: Arguments, names: tuple[str, ...]
) -> None:
    assert other_values(left, right) == other_values(right, left) == names
