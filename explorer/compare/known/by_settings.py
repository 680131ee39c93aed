"""What must be true of the arguments and layers at a divergence, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

from collections.abc import Iterator
from math import inf, isclose

from explorer.compare.known.sight import (
    CLOSE,
    Condition,
    Side,
    Sight,
    has_shapes,
    integers,
    reads_negative,
)
from explorer.compare.known.values import dropped_rate
from explorer.model.divergence import OtherRate
from explorer.model.families import family, squashed


def moves_on(sight: Sight) -> bool:
    """PyTorch's windows move by more than one element."""
    return any(step != 1 for step in integers(sight.sides[1].argument("stride")))


def pads_alone(sight: Sight) -> bool:
    """MindSpore pads by its mode "same", PyTorch not at all: the two values have other sizes."""
    ours, theirs = sight.sides
    is_padded = ours.argument("pad_mode") == "same"
    return is_padded and not any(integers(theirs.argument("padding"))) and has_shapes(sight)


def rates_are_exchanged(sight: Sight) -> bool:
    """The one dropout keeps the share that the other one drops."""
    rates: list[float | None] = list(map(_rate, sight.sides))
    if isinstance(sight.divergence, OtherRate):
        rates = [*sight.divergence.rates]
    one, other = rates
    if one is None or other is None:
        return False
    return isclose(one + other, 1, abs_tol=CLOSE) and not isclose(one, other, abs_tol=CLOSE)


def _rate(side: Side) -> float | None:
    """The share that a side's dropout drops, as its mask or its layer says."""
    masks = (dropped_rate(output) for output in side.reads() if side.node)
    found = next((rate for rate in masks if rate is not None), None)
    kept = side.layer.settings.get("keep_prob")
    return 1 - kept if found is None and isinstance(kept, float) else found


def tracks_nothing(sight: Sight) -> bool:
    """PyTorch's batch norm has no running statistics, and MindSpore's uses its own."""
    ours, theirs = sight.sides
    is_without = theirs.layer.settings.get("track_running_stats") is False
    return is_without and bool(theirs.argument("training")) and not ours.argument("is_training")


def axes_are_those_swapped(sight: Sight) -> bool:
    """MindSpore's order of axes is what PyTorch's transpose has as the two axes that it swaps."""
    orders, swaps = (list(_axes(side)) for side in sight.sides)
    return any(swap in orders for swap in swaps)


def _axes(side: Side) -> Iterator[object]:
    for node in side.origins():
        if node.op == "aten.transpose.int":
            yield node.arguments.get("dim0"), node.arguments.get("dim1")
        elif squashed(node.op) == "transpose":
            yield node.arguments.get("dims") or node.arguments.get("input_perm")


def have_one_padding_index(sight: Sight) -> bool:
    """Both embeddings are given the same row of padding, by MindSpore's layer and PyTorch's op."""
    ours, theirs = sight.sides
    index = ours.layer.settings.get("padding_idx")
    return index is not None and theirs.argument("padding_idx") == index


def is_evaluated_by_layer(name: str) -> Condition:
    """PyTorch's op is that of evaluation, and MindSpore's is inside a layer of that name."""

    def is_so(sight: Sight) -> bool:
        ours, theirs = sight.sides
        is_layer = ours.layer.name.rpartition(".")[2] == name
        return is_layer and theirs.argument("training") is False

    return is_so


def pads_before_it_pools(sight: Sight) -> bool:
    """MindSpore pads with a constant what it then pools; PyTorch's pooling pads by itself."""
    ours, theirs = sight.sides
    if ours.node is None or ours.argument("mode") != "constant":
        return False
    pooling = ours.flow.next_op(ours.node)
    is_pooled = pooling is not None and family(pooling.op) == "maxpool"
    widths = {*integers(ours.argument("paddings"))}
    is_as_wide = any(widths) and widths == {*integers(theirs.argument("padding"))}
    return is_pooled and is_as_wide and reads_negative(theirs)


def has_alpha_of_selu(sight: Sight) -> bool:
    """PyTorch differentiates ELU with SELU's alpha, and some inputs are negative."""
    theirs = sight.sides[1]
    alpha = theirs.argument("alpha")
    is_selu = isinstance(alpha, float) and isclose(alpha, 1.6732632423543772, rel_tol=CLOSE)
    return is_selu and reads_negative(theirs)


def order_is_infinite(sight: Sight) -> bool:
    """PyTorch's norm is the greatest of the absolute values."""
    return sight.sides[1].argument("ord") == inf
