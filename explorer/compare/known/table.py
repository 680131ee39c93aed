"""The table of divergences that are known, and what it says of one.

Seen with MindSpore 2.10 and PyTorch 2.13; a test has a net for each row.
"""

from collections.abc import Collection, Mapping
from itertools import product
from math import inf, isfinite

from explorer.compare.causes.rows import at_place, rows_at
from explorer.compare.graphs.view import GraphView
from explorer.compare.known import conditions
from explorer.compare.known.conditions import Condition, Context, Partners, Side
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, ExtraOps
from explorer.model.engines import engine_named, plain
from explorer.model.graph import OTHER, Layer, Node, Phase, SideName
from explorer.model.known import Reference
from explorer.operators.families import family, squashed

FRAMEWORKS = "mindspore | torch"
"""Either engine of MindSpore beside either of PyTorch."""


class Row:
    """What a divergence must be for ``reference`` to be about it: all ``conditions`` are true.

    ``name`` is that of a surprise, or the number of a claim. ``ops`` are bare names or families of the ops of
    both sides, in backward of those that are differentiated: "a b | c, d" is an a or b beside a c, or two d;
    "*" is any. ``parties`` are frameworks or engines in the order of the sides, written likewise.
    """

    def __init__(
        self, name: str | int, ops: str, *conditions: Condition, parties: str = FRAMEWORKS
    ) -> None:
        self.reference = Reference("claim" if isinstance(name, int) else "surprise", str(name))
        self.ops = ops
        self.conditions = conditions
        self.parties = parties

    def is_about(self, seen: Context) -> bool:
        """Whether a divergence is what this row knows."""
        ours, theirs = seen.sides
        return (
            _is_pair(self.parties, ours.parties, theirs.parties)
            and _is_pair(self.ops, ours.names, theirs.names)
            and all(is_true(seen) for is_true in self.conditions)
        )


def _is_pair(written: str, ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether the names of two sides are a pair of those that are written."""
    for pair in written.split(","):
        first, _, second = pair.partition("|")
        wanted = (ours, first.split()), (theirs, (second or first).split())
        if all(names == ["*"] or not set(names).isdisjoint(side) for side, names in wanted):
            return True
    return False


# Updates in place

IN_PLACE = frozenset({"add", "sub", "mul", "div"})
"""The families of the methods that change nothing on the CPU's tape."""


def is_computed_in_vain(seen: Context) -> bool:
    """The tape computes what the other side goes on with, from the same value, and nothing reads it."""
    tape, other = seen.sides
    for vain, made in product(_in_vain(tape), _written(seen, other)):
        kinds = [family(it.op.removeprefix("Inplace").removesuffix("Ext")) for it in (vain, made)]
        first, second = tape.flow.origins(vain)[:1], other.flow.origins(made)[:1]
        counterparts = [seen.partners.get((tape.name, it.id)) for it in first]
        is_there = counterparts and counterparts == [it.id for it in second]
        if is_there and kinds[0] == kinds[1] and kinds[0] in IN_PLACE:
            return True
    return False


def a_write_is_lost(seen: Context) -> bool:
    """The tape writes to a view in vain, and PyTorch's op reads what was written to its own."""
    tape, other = seen.sides
    writes = [it for it in _in_vain(tape) if squashed(it.op) == "tensorscatterupdate"]
    written = [origin for it in writes for origin in tape.flow.origins(it)[:1]]
    is_view = any(family(it.op) in ("reshape", "transpose") for it in written)
    return is_view and any(it.op.startswith("aten.copy_.") for it in _written(seen, other))


def a_saved_result_is_overwritten(seen: Context) -> bool:
    """MindSpore's backward reads its forward's own result, to which an op in place writes."""
    ours = seen.ours
    if not ours.row or ours.forward not in ours.flow.origins(ours.row[0]):
        return False
    return any(reader.op.startswith("Inplace") for reader in ours.flow.readers(ours.forward))


def _in_vain(side: Side) -> list[Node]:
    """The ops of the forward whose value nothing reads."""
    forward = [it for it in side.flow.graph.nodes if (it.kind, it.phase) == ("op", "forward")]
    return [node for node in forward if not side.flow.out_of(node)]


def _written(seen: Context, side: Side) -> list[Node]:
    """The ops that a side may have alone: that of the divergence, of the cause, and what they read."""
    nodes = [*side.row, *side.origins()]
    if seen.cause and seen.cause.side == side.name and seen.cause.node in side.flow.nodes:
        nodes.append(side.flow.nodes[seen.cause.node])
    return [node for node in nodes if node.kind == "op"]


# The table

FEW_UNITS = 4 * 2.0**-23
"""So great a share of a number does single precision forget."""

FORWARD = (
    # Layers and their settings
    # The one momentum is 1 minus the other.
    Row(43, "batchnorm", lambda at: conditions.is_close(sum(at.changed("momentum")), 1)),
    # PyTorch's batch norm has no running statistics, and MindSpore's uses its own.
    Row(
        42,
        "batchnorm",
        lambda at: at.theirs.layer.settings.get("track_running_stats") is False,
        lambda at: bool(at.theirs.arguments.get("training")),
        lambda at: not at.ours.arguments.get("is_training"),
    ),
    Row(
        "layer_norm_epsilon",
        "layernorm",
        lambda at: (
            [*map(conditions.is_close, at.changed("eps", "epsilon"), (1e-7, 1e-5))] == [True, True]
        ),
    ),
    # PyTorch's windows move by more than one element.
    Row(
        "strided_padding",
        "conv conv2d | conv",
        conditions.pads_one_end_more,
        lambda at: any(step != 1 for step in at.theirs.integers("stride")),
    ),
    Row(47, "conv conv2d maxpool | conv maxpool", conditions.pads_one_end_more),
    # MindSpore pads by its mode "same", PyTorch not at all: the two values have other sizes.
    Row(
        69,
        "conv conv2d | conv",
        lambda at: at.has_shapes and at.ours.arguments.get("pad_mode") == "same",
        lambda at: not any(at.theirs.integers("padding")),
    ),
    Row(87, "padv3 pad | maxpool", conditions.pads_before_it_pools, conditions.reads_negative),
    Row(41, "*", conditions.rates_are_exchanged),
    Row(44, "*", conditions.axes_are_those_swapped),
    Row(
        "rrelu_evaluation",
        "* | rreluwithnoise",
        lambda at: at.ours.layer.name.rpartition(".")[2] == "RReLU",
        lambda at: at.theirs.arguments.get("training") is False,
    ),
    # PyTorch's loss is one number, MindSpore's has one for each sample.
    Row(
        "loss_reduction",
        "crossentropy | *",
        lambda at: at.has_shapes and len(at.ours.value.shape) == 1,
        lambda at: at.theirs.value.shape == (),
    ),
    # Values that are wrong, or have few digits
    Row(
        "saturated_tanh",
        "tanh",
        lambda at: at.reads_equal("float32"),
        lambda at: all(it.size > 0.99 for it in at.sides),
    ),
    Row(
        "lost_digits",
        "log1p, expm1",
        lambda at: at.reads_equal("float32"),
        lambda at: all(it.size < 0.1 for it in at.sides),
    ),
    Row("unequal_outputs", "softplus, elu", conditions.equal_elements_come_out_unequal),
    Row(
        "double_precision",
        "add sub mul div",
        lambda at: at.reads_equal("float64"),
        conditions.has_a_number_of_many_digits,
        lambda at: at.differs_by(FEW_UNITS),
    ),
    Row(
        "single_precision_inside",
        "celu",
        lambda at: at.reads_equal("float64"),
        lambda at: at.differs_by(FEW_UNITS),
    ),
    # This operator has five right digits.
    Row(
        "single_precision_inside",
        "logsoftmax",
        lambda at: at.reads_equal("float64"),
        lambda at: at.differs_by(1e-5),
    ),
    Row("masked_row", "softmax", lambda at: at.reads_equal(), conditions.a_row_is_masked),
    Row(
        "nan_minimum",
        "minimum, maximum",
        lambda at: at.reads_equal(),
        lambda at: isfinite(at.ours.size) and at.theirs.is_nan,
    ),
    # Updates in place
    Row(
        "in_place_nothing",
        "*",
        is_computed_in_vain,
        parties="mindspore-tape | torch mindspore-graph",
    ),
    Row("view_write", "*", a_write_is_lost, parties="mindspore-tape | torch"),
)
"""What is known of values."""

BACKWARD = (
    # Both embeddings are given the same row of padding, by MindSpore's layer and PyTorch's op.
    Row(
        "padding_index",
        "embedding",
        lambda at: at.ours.layer.settings.get("padding_idx") is not None,
        lambda at: (
            at.theirs.arguments.get("padding_idx") == at.ours.layer.settings.get("padding_idx")
        ),
    ),
    # PyTorch differentiates ELU with SELU's alpha.
    Row(
        "selu",
        "selu | elu selu",
        lambda at: conditions.is_close(at.theirs.arguments.get("alpha"), 1.6732632423543772),
        conditions.reads_negative,
    ),
    Row("label_gradient", "*", conditions.label_is_read),
    Row("power_of_zero", "*", conditions.is_zero_to_the_zeroth),
    Row(
        "zero_norm",
        "sqrt | linalgvectornorm norm, reducestd std | std, atan2",
        conditions.is_nan_at_zero,
    ),
    Row(
        "slopes_at_bounds",
        "relu6 | hardtanh relu6, minimum maximum | hardtanh, hswish hardswish | hardswish",
        conditions.are_at_one_kink,
    ),
    # The norm is the greatest of the absolute values.
    Row(
        "slopes_at_bounds",
        "argmaxwithvalue | linalgvectornorm",
        lambda at: at.theirs.arguments.get("ord") == inf,
    ),
    Row("relu_at_zero", "*", conditions.are_other_spellings, conditions.are_at_one_kink),
    Row("same_tensor_twice", "*", conditions.is_one_tensor),
    Row(31, "*", conditions.is_one_tensor),
    Row("in_place_exp", "*", a_saved_result_is_overwritten, parties="mindspore-graph | torch"),
)
"""What is known of gradients."""

ROWS: Mapping[Phase, tuple[Row, ...]] = {"forward": FORWARD, "backward": BACKWARD}


# A divergence


def known(
    alignment: Alignment,
    divergence: Divergence,
    cause: Cause | None,
    flows: tuple[GraphView, GraphView],
) -> tuple[Reference, ...]:
    """What is known of a divergence of two graphs, with its cause where one was found."""
    names: tuple[SideName, SideName] = ("left", "right")
    partners: Partners = {}
    for pair, name in product(alignment.pairs, names):
        for node in pair.members(name):
            partners.setdefault((name, node), pair.members(OTHER[name])[0])
    # The op of each side; of one that has none in forward, what it goes on with.
    goes_on = None
    if isinstance(divergence, ExtraOps) and divergence.phase == "forward":
        goes_on = divergence.goes_on
    alone = (
        flow.nodes.get(name or "") or (goes_on and at_place(flow, goes_on))
        for name, flow in zip(divergence.nodes, flows, strict=True)
    )
    rows = rows_at(divergence, *flows) or [[node] if node else [] for node in alone]
    # In backward an op derives from another one; a side without an op has the counterpart of the other's.
    firsts = [row[0] if row else None for row in rows]
    forwards = [
        flow.nodes.get(first.forward or "") if first and first.phase == "backward" else first
        for first, flow in zip(firsts, flows, strict=True)
    ]
    sides = []
    of_each = zip(names, flows, rows, forwards, reversed(forwards), divergence.ends, strict=True)
    for name, flow, row, forward, other, end in of_each:
        if forward is None and other is not None:
            forward = flow.nodes.get(partners.get((OTHER[name], other.id), ""))
        nodes = [*row[:1], *([forward] if forward else [])]
        ops = [node.op for node in (row if forward is None or forward in row else (forward,))]
        engine = flow.graph.engine
        side = Side(
            name,
            flow,
            row,
            forward,
            end.value,
            parties=frozenset((plain(engine), engine_named(engine).framework)),
            names=frozenset((*map(squashed, ops), *map(family, ops))),
            layer=flow.graph.layers.get(nodes[0].scope if nodes else "", Layer("")),
            arguments={key: it for node in reversed(nodes) for key, it in node.arguments.items()},
            reads=list(flow.tensors(forward).values()) if forward else [],
        )
        sides.append(side)
    left, right = sides
    seen = Context(divergence, cause, left, right, partners)
    # Either side may be the first party of a row.
    both_ways = seen, seen._replace(ours=right, theirs=left)
    rows_of_phase = ROWS[divergence.phase]
    found = [row.reference for row in rows_of_phase if any(map(row.is_about, both_ways))]
    return tuple(dict.fromkeys(found))
