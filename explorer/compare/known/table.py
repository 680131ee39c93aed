"""The table of divergences that are known, and what it says of one.

Seen with MindSpore 2.10 and PyTorch 2.13; a test has a net for each row.
"""

from collections.abc import Collection, Mapping
from itertools import product
from math import inf, isfinite
from typing import NamedTuple

from explorer.compare.graphs.view import GraphView
from explorer.compare.known.conditions import (
    Condition,
    Context,
    Side,
    a_row_is_masked,
    are_at_one_kink,
    are_other_spellings,
    axes_are_those_swapped,
    contexts,
    differs_by,
    equal_elements_come_out_unequal,
    has_a_number_of_many_digits,
    is_close,
    is_nan_at_zero,
    is_one_tensor,
    is_zero_to_the_zeroth,
    label_is_read,
    pads_before_it_pools,
    pads_one_end_more,
    rates_are_exchanged,
    reads_equal,
    reads_negative,
)
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence
from explorer.model.graph import Node, Phase
from explorer.model.known import Reference
from explorer.operators.families import family, squashed


class Row(NamedTuple):
    """What a divergence must be for ``reference`` to be about it: all ``conditions`` are true.

    ``ops`` are bare names or families of the ops of both sides, in backward of those that are
    differentiated: "a b | c, d" is an a or b beside a c, or two d; "*" is any. ``parties`` are frameworks
    or engines in the order of the sides, written likewise.
    """

    reference: Reference
    ops: str
    conditions: tuple[Condition, ...]
    parties: str

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

FRAMEWORKS = "mindspore | torch"
"""Either engine of MindSpore beside either of PyTorch."""


def _row(name: str | int, ops: str, *conditions: Condition, parties: str = FRAMEWORKS) -> Row:
    """The row of a surprise by its name, or of a claim by its number."""
    reference = Reference("claim" if isinstance(name, int) else "surprise", str(name))
    return Row(reference, ops, conditions, parties)


FORWARD = (
    # Layers and their settings
    # The one momentum is 1 minus the other.
    _row(43, "batchnorm", lambda at: is_close(sum(at.changed("momentum")), 1)),
    # PyTorch's batch norm has no running statistics, and MindSpore's uses its own.
    _row(
        42,
        "batchnorm",
        lambda at: at.theirs.layer.settings.get("track_running_stats") is False,
        lambda at: bool(at.theirs.arguments.get("training")),
        lambda at: not at.ours.arguments.get("is_training"),
    ),
    _row(
        "layer_norm_epsilon",
        "layernorm",
        lambda at: [*map(is_close, at.changed("eps", "epsilon"), (1e-7, 1e-5))] == [True, True],
    ),
    # PyTorch's windows move by more than one element.
    _row(
        "strided_padding",
        "conv conv2d | conv",
        pads_one_end_more,
        lambda at: any(step != 1 for step in at.theirs.integers("stride")),
    ),
    _row(47, "conv conv2d maxpool | conv maxpool", pads_one_end_more),
    # MindSpore pads by its mode "same", PyTorch not at all: the two values have other sizes.
    _row(
        69,
        "conv conv2d | conv",
        lambda at: at.has_shapes and at.ours.arguments.get("pad_mode") == "same",
        lambda at: not any(at.theirs.integers("padding")),
    ),
    _row(87, "padv3 pad | maxpool", pads_before_it_pools, reads_negative),
    _row(41, "*", rates_are_exchanged),
    _row(44, "*", axes_are_those_swapped),
    _row(
        "rrelu_evaluation",
        "* | rreluwithnoise",
        lambda at: at.ours.layer.name.rpartition(".")[2] == "RReLU",
        lambda at: at.theirs.arguments.get("training") is False,
    ),
    # PyTorch's loss is one number, MindSpore's has one for each sample.
    _row(
        "loss_reduction",
        "crossentropy | *",
        lambda at: at.has_shapes and len(at.ours.value.shape) == 1,
        lambda at: at.theirs.value.shape == (),
    ),
    # Values that are wrong, or have few digits
    _row(
        "saturated_tanh",
        "tanh",
        reads_equal("float32"),
        lambda at: all(it.size > 0.99 for it in at.sides),
    ),
    _row(
        "lost_digits",
        "log1p, expm1",
        reads_equal("float32"),
        lambda at: all(it.size < 0.1 for it in at.sides),
    ),
    _row("unequal_outputs", "softplus, elu", equal_elements_come_out_unequal),
    _row(
        "double_precision",
        "add sub mul div",
        reads_equal("float64"),
        has_a_number_of_many_digits,
        differs_by(FEW_UNITS),
    ),
    _row("single_precision_inside", "celu", reads_equal("float64"), differs_by(FEW_UNITS)),
    # This operator has five right digits.
    _row("single_precision_inside", "logsoftmax", reads_equal("float64"), differs_by(1e-5)),
    _row("masked_row", "softmax", reads_equal(), a_row_is_masked),
    _row(
        "nan_minimum",
        "minimum, maximum",
        reads_equal(),
        lambda at: isfinite(at.ours.size) and at.theirs.is_nan,
    ),
    # Updates in place
    _row(
        "in_place_nothing",
        "*",
        is_computed_in_vain,
        parties="mindspore-tape | torch mindspore-graph",
    ),
    _row("view_write", "*", a_write_is_lost, parties="mindspore-tape | torch"),
)
"""What is known of values."""

BACKWARD = (
    # Both embeddings are given the same row of padding, by MindSpore's layer and PyTorch's op.
    _row(
        "padding_index",
        "embedding",
        lambda at: at.ours.layer.settings.get("padding_idx") is not None,
        lambda at: (
            at.theirs.arguments.get("padding_idx") == at.ours.layer.settings.get("padding_idx")
        ),
    ),
    # PyTorch differentiates ELU with SELU's alpha.
    _row(
        "selu",
        "selu | elu selu",
        lambda at: is_close(at.theirs.arguments.get("alpha"), 1.6732632423543772),
        reads_negative,
    ),
    _row("label_gradient", "*", label_is_read),
    _row("power_of_zero", "*", is_zero_to_the_zeroth),
    _row(
        "zero_norm",
        "sqrt | linalgvectornorm norm, reducestd std | std, atan2",
        is_nan_at_zero,
    ),
    _row(
        "slopes_at_bounds",
        "relu6 | hardtanh relu6, minimum maximum | hardtanh, hswish hardswish | hardswish",
        are_at_one_kink,
    ),
    # The norm is the greatest of the absolute values.
    _row(
        "slopes_at_bounds",
        "argmaxwithvalue | linalgvectornorm",
        lambda at: at.theirs.arguments.get("ord") == inf,
    ),
    _row("relu_at_zero", "*", are_other_spellings, are_at_one_kink),
    _row("same_tensor_twice", "*", is_one_tensor),
    _row(31, "*", is_one_tensor),
    _row("in_place_exp", "*", a_saved_result_is_overwritten, parties="mindspore-graph | torch"),
)
"""What is known of gradients."""

ROWS: Mapping[Phase, tuple[Row, ...]] = {"forward": FORWARD, "backward": BACKWARD}


def known(
    alignment: Alignment,
    divergence: Divergence,
    cause: Cause | None,
    flows: tuple[GraphView, GraphView],
) -> tuple[Reference, ...]:
    """What is known of a divergence of two graphs, with its cause where one was found."""
    both_ways = contexts(alignment, divergence, cause, flows)
    rows = ROWS[divergence.phase]
    found = [row.reference for row in rows if any(map(row.is_about, both_ways))]
    return tuple(dict.fromkeys(found))
