"""Graphs of which one keeps channels last: which values lie so, and how the two are compared."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.compare.causes.arguments import Spot
from explorer.compare.causes.inputs import inputs_of_there
from explorer.compare.causes.rows import Ends
from explorer.compare.graphs.layouts import Laid, channels_first, channels_last, in_one_layout
from explorer.compare.graphs.view import GraphView
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.causes import Cause, Edit, FromThere, Inserted, InsertOperator, RemoveOperator
from explorer.model.graph import GradGraph, SideName
from explorer.scenario.load import load
from explorer.words import causes as words
from explorer.workers.workers import Workers
from tests.support.explained import CAUSE
from tests.support.handmade_graph import HandmadeGraph, of_steps
from tests.support.narrowing import of_type, present
from tests.support.needs import skip_without

NET = Path(__file__).resolve().parents[1] / "nets" / "channels_last.py"
LINEN = NET.with_name("residual_in_linen.py")

DRAWS = np.random.default_rng(0)
IMAGE, MADE, POOLED = (
    DRAWS.standard_normal(shape).astype(np.float32)
    for shape in ((2, 3, 4, 4), (2, 5, 4, 4), (2, 5, 2, 2))
)


def net(
    engine: str,
    conv: str,
    image: AnyArray,
    lay: Callable[[AnyArray], AnyArray],
    act: AnyArray = MADE,
    pool: str = "avg_pool2d",
) -> GradGraph:
    """A convolution, an op and a pooling, with a gradient of each; ``lay`` puts values as they lie."""
    made = HandmadeGraph()
    for id_, op, value, reads in (
        ("moved", "permute", image, ()),
        ("conv", conv, lay(MADE), ("moved",)),
        ("act", "tanh", lay(act), ("conv",)),
        ("pool", pool, lay(POOLED), ("act",)),
        ("mean", "mean", POOLED.mean((2, 3)), ("pool",)),
    ):
        made.add(op, reads, value=value, id_=id_, line=0)
    made.back("expand", "mean", ["mean"], value=lay(POOLED), id_="dpool")
    made.back("mul", "act", ["dpool"], value=lay(MADE), id_="dact")
    made.add("permute", ["pool"], value=POOLED, id_="back", line=0)
    made.add("tanh", ["back"], value=POOLED * 2, id_="behind", line=0)
    return made.record(engine=engine)


def plain(value: AnyArray) -> AnyArray:
    return value


FIRST = net("torch-tape", "aten.convolution.default", IMAGE, plain)
LAST = net("jax-tape", "conv_general_dilated", channels_last(IMAGE), channels_last)
OTHERWISE = net("jax-tape", "conv_general_dilated", channels_last(IMAGE), channels_last, -MADE)


def value(laid: Laid, side: int, name: str) -> AnyArray:
    output = laid.graphs[side].by_id()[name].outputs[0]
    assert output.values is not None
    assert output.values.whole is not None
    assert output.values.whole.shape == output.shape
    return unpack(output.values.whole)


@pytest.mark.parametrize("other", [LAST, OTHERWISE])
@pytest.mark.parametrize("is_left", [True, False])
def test_what_follows_from_a_convolution_lies_with_its_channels_first(
    other: GradGraph, is_left: bool
) -> None:
    laid = in_one_layout(*((other, FIRST) if is_left else (FIRST, other)))
    side = 0 if is_left else 1
    assert laid.graphs[1 - side] is FIRST
    for name in ("conv", "pool", "dpool", "dact"):
        np.testing.assert_array_equal(value(laid, side, name), value(laid, 1 - side, name))
    # Also where the two differ.
    sign = 1 if other is LAST else -1
    np.testing.assert_array_equal(value(laid, side, "act"), sign * MADE)
    moved = laid.moved["left" if is_left else "right"]
    assert moved >= {("conv", 0), ("act", 0), ("pool", 0), ("dpool", 0), ("dact", 0)}
    # What moves the axes ends it.
    assert not moved & {("mean", 0), ("back", 0), ("behind", 0)}


@pytest.mark.parametrize("pool", ["avg_pool2d", "reduce_window_max"])
def test_pooling_shows_how_images_lie_without_any_convolution(pool: str) -> None:
    last = net("b", "matmul", channels_last(IMAGE), channels_last, pool=pool)
    laid = in_one_layout(net("a", "matmul", IMAGE, plain), last)
    assert laid.moved["right"] >= {("act", 0), ("pool", 0), ("dpool", 0)}


def test_nets_in_one_layout_and_nets_without_windows_stay_as_they_are() -> None:
    of_last = "matmul", channels_last(IMAGE), channels_last
    for graphs in (
        (FIRST, FIRST),
        (LAST, LAST),
        (net("a", "matmul", IMAGE, plain, pool="exp"), net("b", *of_last, pool="exp")),
        (FIRST, net("b", "conv2d", channels_last(-IMAGE), channels_last, -MADE)),
    ):
        laid = in_one_layout(*graphs)
        assert laid.graphs == graphs
        assert laid.moved == {"left": frozenset(), "right": frozenset()}


def test_what_is_the_same_as_it_stands_does_not_move() -> None:
    """Square images of as many channels: a value of the other side that lies so is the same one."""
    square = DRAWS.standard_normal((2, 4, 4, 4)).astype(np.float32)
    first = of_steps(
        "torch-tape",
        ("read", "permute", channels_first(square), ""),
        ("conv", "conv2d", channels_first(square * 2), "read"),
        ("act", "tanh", np.tanh(square), "conv"),
    )
    last = of_steps(
        "jax-tape",
        ("read", "mul", square, ""),
        ("conv", "conv2d", square * 2, "read"),
        ("act", "tanh", np.tanh(square), "conv"),
    )
    assert in_one_layout(last, first).moved["left"] == {("read", 0), ("conv", 0)}


def test_what_is_turned_for_a_convolution_lies_otherwise_before() -> None:
    """Also where the other side has other values: another convolution shows how images lie."""
    square, other = DRAWS.standard_normal((2, 2, 4, 4, 4)).astype(np.float32)
    first = of_steps(
        "torch-tape",
        ("read", "permute", channels_first(square), ""),
        ("conv", "conv2d", channels_first(square * 2), "read"),
        ("made", "tanh", other, ""),
        ("second", "conv2d", other * 2, "made"),
    )
    last = of_steps(
        "jax-tape",
        ("read", "mul", square, ""),
        ("conv", "conv2d", square * 2, "read"),
        ("made", "sin", other * 3, ""),
        ("turned", "transpose", channels_last(other * 3), "made"),
        ("second", "conv2d", channels_last(other * 6), "turned"),
    )
    moved = in_one_layout(last, first).moved["left"]
    assert moved == {("read", 0), ("conv", 0), ("turned", 0), ("second", 0)}


def test_values_are_handed_on_as_they_lie_where_they_are_put_in() -> None:
    laid = in_one_layout(LAST, FIRST)
    act = ("act", 0)
    put = laid.handed_on("right", act, act, pack(channels_last(MADE)))
    np.testing.assert_array_equal(unpack(put), MADE)
    put = laid.handed_on("left", act, act, pack(MADE))
    np.testing.assert_array_equal(unpack(put), channels_last(MADE))
    same = pack(POOLED)
    assert laid.handed_on("left", ("mean", 0), ("mean", 0), same) is same


def test_what_a_trial_gives_is_seen_as_the_op_s_own_value() -> None:
    laid = in_one_layout(LAST, FIRST)
    made = (LAST.by_id()["act"].outputs[0], LAST.by_id()["mean"].outputs[0])
    seen, flat = laid.as_seen("left", "act", made)
    assert seen == laid.graphs[0].by_id()["act"].outputs[0]
    assert flat is made[1]
    assert laid.as_seen("left", "mean", made) is made
    assert laid.as_seen("right", "act", made) is made


def cause_at(side: SideName, *edits: Edit) -> Cause:
    return msgspec.structs.replace(CAUSE, side=side, node="act", edits=edits)


@pytest.mark.parametrize(
    ("op", "seen", "own"),
    [
        ("transpose", (0, 1, 3, 2), (0, 2, 1, 3)),
        ("flip", (1, 2), (3, 1)),
        ("roll", (3, 5, 1, 2), (2, 5, 3, 2)),
        ("blocks", (1, 1, 0), (3, 1, 0)),
        ("regroup", (0, 2, 1), (0, 2, 1)),
    ],
)
def test_a_cause_names_the_axes_of_the_program(
    op: Inserted, seen: tuple[int, ...], own: tuple[int, ...]
) -> None:
    laid = in_one_layout(LAST, FIRST)
    removed = RemoveOperator()
    cause = cause_at("left", removed, InsertOperator(op=op, numbers=seen))
    edits = present(laid.in_own_axes(cause, ("act", "act"))).edits
    assert edits == (removed, InsertOperator(op=op, numbers=own))
    same = cause_at("right", *cause.edits)
    assert laid.in_own_axes(same, ("act", "act")) == same


def test_an_op_that_reads_channels_last_and_gives_no_image_moves_no_axes() -> None:
    cause = cause_at("left", RemoveOperator(), InsertOperator(op="transpose", numbers=(0, 2, 3, 1)))
    cause = msgspec.structs.replace(cause, node="mean")
    assert in_one_layout(LAST, FIRST).in_own_axes(cause, ("mean", "mean")) is None


def test_the_axes_of_a_relation_lead_from_the_one_program_to_the_other() -> None:
    laid = in_one_layout(LAST, FIRST)
    turned = MADE.transpose(0, 1, 3, 2)
    sides: tuple[tuple[SideName, AnyArray, AnyArray], ...] = (
        ("left", channels_last(MADE), turned),
        ("right", MADE, channels_last(turned)),
    )
    for side, here, there in sides:
        cause = cause_at(side, InsertOperator(op="transpose", numbers=(0, 1, 3, 2)))
        (edit,) = present(laid.in_own_axes(cause, ("act", "act"))).edits
        numbers = of_type(InsertOperator, edit).numbers
        np.testing.assert_array_equal(here.transpose(numbers), there)


def test_an_op_has_the_shapes_of_its_program_where_its_arguments_are_about_axes() -> None:
    laid = in_one_layout(LAST, FIRST)
    flow = GraphView(laid.graphs[0], laid.moved["left"])
    pool, mean = flow.nodes["pool"], flow.nodes["mean"]
    assert flow.tensors(pool)[0].shape == (2, 5, 4, 4)
    assert flow.own_shapes(pool) == {0: (2, 4, 4, 5)}
    assert flow.own_shape(pool, (2, 5, 3, 3)) == (2, 3, 3, 5)
    assert flow.own_shapes(mean) == {0: (2, 2, 2, 5)}
    assert flow.own_shape(mean, (2, 5)) == (2, 5)


def test_the_other_side_s_input_is_given_as_the_op_reads_it() -> None:
    """Inputs that pass as equal, and differ by more than an explanation may leave."""
    moved = MADE * np.float32(1 + 5e-5)
    near = of_steps(
        "torch-tape",
        ("moved", "permute", IMAGE, ""),
        ("conv", "conv2d", moved, "moved"),
        ("act", "tanh", MADE * np.float32(1.0002), "conv"),
    )
    laid = in_one_layout(LAST, near)
    here = GraphView(laid.graphs[0], laid.moved["left"])
    there = GraphView(laid.graphs[1], laid.moved["right"])
    ends = Ends("left", here, there, [here.nodes["act"]], [there.nodes["act"]])
    (edit,) = inputs_of_there(Spot(ends, here.nodes["act"], there.nodes["act"].outputs[0]))
    value = present(of_type(FromThere, edit.source).value)
    np.testing.assert_array_equal(unpack(value), channels_last(moved))


# Nets


def aligned(path: Path, workers: Workers) -> Alignment:
    report = explore(load(path), workers, engines=("jax-tape", "torch-tape"), selection="main")
    (alignment,) = report.alignments
    return alignment


def planted(source: Path, old: str, new: str, folder: Path) -> Path:
    """A file of the two nets with a mistake in JAX's."""
    torch, jax = source.read_text().split("def jax_net")
    assert old in jax
    path = folder / "other_layout.py"
    path.write_text(f"{torch}def jax_net{jax.replace(old, new, 1)}")
    return path


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize("net", [NET, LINEN], ids=["function", "linen"])
def test_two_layouts_are_no_divergence(net: Path, workers: Workers) -> None:
    if net is LINEN:
        skip_without("flax")
    assert aligned(net, workers).divergence is None


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("eps=1e-5", "eps=1e-3", "`eps=0.001` in the place of `eps=1e-05`"),
        ("jax.nn.silu(conv", "jax.nn.relu(conv", "`aten.relu.default` in the place of"),
        (
            '(conv(x, params["conv2',
            '(conv(x.transpose(0, 2, 1, 3), params["conv2',
            "its axes in the order 0, 2, 1, 3",
        ),
    ],
)
def test_a_mistake_beside_another_layout_is_named(
    old: str, new: str, said: str, workers: Workers, tmp_path: Path
) -> None:
    alignment = aligned(planted(NET, old, new, tmp_path), workers)
    assert said in words.cause(alignment)
    # Mended there, nothing else differs: values were put in as they lie.
    assert alignment.mended is not None
    assert alignment.behind == ()
    assert alignment.mended.differing == ()


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "2, padding=one, use_bias",
            "2, padding='SAME', use_bias",
            "`padding=(1, 1, 1, 1)` in the",
        ),
        ("relu(y + shortcut)", "relu(y) + shortcut", "with `aten.relu.default` before `aten.add"),
    ],
)
def test_a_mistake_in_a_residual_net_of_linen_is_named(
    old: str, new: str, said: str, workers: Workers, tmp_path: Path
) -> None:
    skip_without("flax")
    assert said in words.cause(aligned(planted(LINEN, old, new, tmp_path), workers))
