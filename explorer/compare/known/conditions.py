"""What must be true of a divergence, beyond its ops, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

from collections.abc import Callable, Iterator
from math import inf, isclose

import numpy as np

from explorer.compare.known.sight import Side, Sight
from explorer.compare.known.values import (
    are_unequal_for_equal,
    dropped_rate,
    holds,
    is_finite,
    is_nan,
    repeated_greatest,
    ties,
)
from explorer.model.causes import InputChange, OtherArguments, OtherInputs, Related
from explorer.model.divergence import OtherRate, OtherValue, ResultElsewhere
from explorer.model.families import family, squashed
from explorer.model.graph import Node

Condition = Callable[[Sight], bool]
"""Whether something is true of a divergence."""

CLOSE = 1e-5
"""How far two settings may be apart, relative to them, that were written as one."""

SINGLE = 2.0**-23
"""By so much, relative to them, are numbers of single precision apart."""


# Of the cause that was tried


def the_other_way_round(name: str) -> Condition:
    """The cause is 1 minus the op's own value of an argument."""

    def is_so(sight: Sight) -> bool:
        changed = _changed(sight, (name,))
        return changed is not None and isclose(sum(changed), 1, rel_tol=CLOSE)

    return is_so


def one_is(first: float, second: float, *names: str) -> Condition:
    """The cause is an argument that is ``first`` in place of ``second``, or the other way round."""

    def is_so(sight: Sight) -> bool:
        changed = _changed(sight, names)
        if changed is None:
            return False
        return all(
            isclose(one, other, rel_tol=CLOSE)
            for one, other in zip(sorted(changed), sorted((first, second)), strict=True)
        )

    return is_so


def _changed(sight: Sight, names: tuple[str, ...]) -> tuple[float, float] | None:
    """The op's own value and the one that gives the other side's, where that is all that changes."""
    change = sight.cause and sight.cause.change
    if not isinstance(change, OtherArguments) or len(change.arguments) != 1:
        return None
    (name,) = change.arguments
    own, other = change.own.get(name), change.arguments[name]
    if name not in names or not isinstance(own, float) or not isinstance(other, float):
        return None
    return own, other


def pads_one_end_more(sight: Sight) -> bool:
    """The cause is padding that is wider at one end, which MindSpore's mode "same" makes."""
    change = sight.cause and sight.cause.change
    if sight.sides[0].argument("pad_mode") != "same" or not isinstance(change, OtherInputs):
        return False
    return any(map(_is_uneven, change.changes))


def _is_uneven(change: InputChange) -> bool:
    ends = change.numbers
    return change.how in ("padded", "padded_below") and ends[::2] != ends[1::2]


def moves_on(sight: Sight) -> bool:
    """PyTorch's windows move by more than one element."""
    return any(step != 1 for step in _numbers(sight.sides[1].argument("stride")))


def pads_alone(sight: Sight) -> bool:
    """MindSpore pads by its mode "same", PyTorch not at all: the two values have other sizes."""
    ours, theirs = sight.sides
    is_padded = ours.argument("pad_mode") == "same"
    return is_padded and not any(_numbers(theirs.argument("padding"))) and _has_shapes(sight)


def _has_shapes(sight: Sight) -> bool:
    return all(side.value.what == "shape" for side in sight.sides)


def _numbers(value: object) -> tuple[int, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return tuple(number for number in values if isinstance(number, int))


def is_one_tensor(sight: Sight) -> bool:
    """The cause is that two inputs are one tensor."""
    change = sight.cause and sight.cause.change
    return isinstance(change, Related) and change.how == "aliased"


# Of arguments and settings


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
    widths = {*_numbers(ours.argument("paddings"))}
    is_as_wide = any(widths) and widths == {*_numbers(theirs.argument("padding"))}
    return is_pooled and is_as_wide and _reads_negative(theirs)


def has_alpha_of_selu(sight: Sight) -> bool:
    """PyTorch differentiates ELU with SELU's alpha, and some inputs are negative."""
    theirs = sight.sides[1]
    alpha = theirs.argument("alpha")
    is_selu = isinstance(alpha, float) and isclose(alpha, 1.6732632423543772, rel_tol=CLOSE)
    return is_selu and _reads_negative(theirs)


def _reads_negative(side: Side) -> bool:
    return any(it.values and it.values.minimum < 0 for it in side.reads())


def order_is_infinite(sight: Sight) -> bool:
    """PyTorch's norm is the greatest of the absolute values."""
    return sight.sides[1].argument("ord") == inf


# Of values


def inputs_are_equal(sight: Sight) -> bool:
    """Both ops read the same, as was observed."""
    divergence = sight.divergence
    if not isinstance(divergence, OtherValue):
        return False
    inputs = divergence.inputs
    return inputs.are_observed and not (inputs.differing or any(inputs.alone))


def is_near_zero(sight: Sight) -> bool:
    """The values that differ are less than a tenth."""
    return all(is_finite(it.value) and abs(it.value.numbers[0]) < 0.1 for it in sight.sides)


def is_near_one(sight: Sight) -> bool:
    """The values that differ are almost 1 or -1."""
    return all(is_finite(it.value) and abs(it.value.numbers[0]) > 0.99 for it in sight.sides)


def differs_little(sight: Sight) -> bool:
    """The values differ by less than a tenth of them."""
    return _differs_by(sight, 0.1)


def is_float32(sight: Sight) -> bool:
    """Both values are of single precision."""
    return _dtypes(sight) == {"float32"}


def is_rounded_to_single(sight: Sight) -> bool:
    """Both values are of double precision, and differ by what single precision forgets."""
    return _is_of_double(sight, 4 * SINGLE)


def is_rounded_with_a_few_more(sight: Sight) -> bool:
    """The same of an operator that has five right digits."""
    return _is_of_double(sight, 1e-5)


def _is_of_double(sight: Sight, share: float) -> bool:
    return _dtypes(sight) == {"float64"} and _differs_by(sight, share)


def _differs_by(sight: Sight, share: float) -> bool:
    """Whether the elements that differ most differ by at most that share of them."""
    greatest = sight.divergence.gap.greatest
    values = [abs(it.value.numbers[0]) for it in sight.sides if is_finite(it.value)]
    return greatest is not None and len(values) == 2 and 0 < greatest <= share * max(values)


def _dtypes(sight: Sight) -> set[str]:
    ends = [it.row[-1] for it in sight.sides if it.row]
    return {output.dtype for node in ends for output in node.outputs[:1]}


def has_a_number_of_many_digits(sight: Sight) -> bool:
    """Both ops are given one number, which single precision does not hold."""
    one, other = (it.argument("other") for it in sight.sides)
    return isinstance(one, float) and one == other and float(np.float32(one)) != one


def equal_elements_come_out_unequal(sight: Sight) -> bool:
    """MindSpore's op makes several numbers of one."""
    ours = sight.sides[0]
    if ours.node is None:
        return False
    made = ours.row[-1].outputs
    return bool(made) and any(are_unequal_for_equal(it, made[0]) for it in ours.reads())


def nan_is(ours: float | None = None) -> Condition:
    """PyTorch's value is nan where MindSpore's is finite, or just that number."""

    def is_so(sight: Sight) -> bool:
        one, other = (it.value for it in sight.sides)
        is_number = is_finite(one) and (ours is None or one.numbers[0] == ours)
        return is_number and is_nan(other)

    return is_so


def a_row_is_masked(sight: Sight) -> bool:
    """Both ops go along one axis, and read elements of minus infinity."""
    ours, theirs = sight.sides
    read = ours.reads()
    axes = _numbers(ours.argument("axis")) + _numbers(theirs.argument("dim"))
    if not read or len({axis % len(read[0].shape) for axis in axes}) != 1:
        return False
    return any(it.values and it.values.infinities[1] for it in read)


def is_nan_at_zero(sight: Sight) -> bool:
    """What is differentiated is 0 somewhere, and one value is nan there, where the other is finite."""
    is_nan_alone = {is_nan(it.value) for it in sight.sides} == {True, False}
    made = [output for it in sight.sides if it.forward for output in it.forward.outputs]
    return is_nan_alone and any(holds(output, 0.0) for output in made)


def is_zero_to_the_zeroth(sight: Sight) -> bool:
    """A power is differentiated of which a base and the exponent are 0."""
    return any(_has_zero_to_the_zeroth(side) for side in sight.sides)


def _has_zero_to_the_zeroth(side: Side) -> bool:
    if side.forward is None or family(side.forward.op) != "pow" or not side.reads():
        return False
    base, *exponents = side.reads()
    written = [side.forward.arguments.get(name) for name in ("exponent", "other", "power")]
    is_zero = 0 in [it for it in written if isinstance(it, (int, float))]
    return holds(base, 0.0) and (is_zero or any(holds(it, 0.0) for it in exponents))


def is_not_reduced(sight: Sight) -> bool:
    """PyTorch's loss is one number, MindSpore's has one for each sample."""
    ours, theirs = (it.value.shape for it in sight.sides)
    return _has_shapes(sight) and len(ours) == 1 and theirs == ()


def label_is_read(sight: Sight) -> bool:
    """The result is the gradient of what MindSpore's loss reads as its label."""
    if not isinstance(sight.divergence, ResultElsewhere):
        return False
    flow = sight.sides[0].flow
    for node in flow.graph.nodes:
        if node.op == "SigmoidCrossEntropyWithLogits" and node.phase == "forward":
            labels = [flow.nodes[edge.origin] for edge in flow.into(node) if edge.input == 1]
            if any(f"d{label.name}" == sight.divergence.name for label in labels):
                return True
    return False


# Of kinks

SPELLINGS = {
    "relu": "relu",
    "maximum": "maximum",
    "minimum": "maximum",
    "clamp": "clamp",
    "clampmin": "clamp",
    "clampscalar": "clamp",
    "amax": "greatest",
    "aten.max.default": "greatest",
    "reducemax": "greatest",
    "aten.max.dim": "greatest with its index",
    "argmaxwithvalue": "greatest with its index",
}
"""Operators with a kink, by the convention that their gradient follows there."""


def are_other_spellings(sight: Sight) -> bool:
    """The two ops follow other conventions at their kinks."""
    spelled = [it.forward and _spelling(it.forward) for it in sight.sides]
    return all(spelled) and len(set(spelled)) == 2


def _spelling(node: Node) -> str:
    return SPELLINGS.get(node.op) or SPELLINGS.get(squashed(node.op), "")


def are_at_one_kink(sight: Sight) -> bool:
    """What both ops read is somewhere exactly at a number where both have a kink."""
    ours, theirs = map(_kinks, sight.sides)
    return not ours.isdisjoint(theirs)


BOUNDS: dict[str, tuple[float, ...]] = {
    "relu": (0.0,),
    "relu6": (6.0,),
    "hswish": (-3.0, 3.0),
    "hardswish": (-3.0, 3.0),
}
"""Where operators have kinks at which some gradients differ."""


def _kinks(side: Side) -> set[float]:
    """The numbers that a side reads at which its op has a kink."""
    read = side.reads()
    if side.forward is None or not read:
        return set()
    name = squashed(side.forward.op)
    if _spelling(side.forward) == "maximum":
        return ties(*read) if len(read) == 2 else set()
    if _spelling(side.forward).startswith("greatest"):
        return repeated_greatest(read[0])
    bounds = BOUNDS.get(name, ())
    for argument in ("min", "max", "min_val", "max_val"):
        bound = side.argument(argument)
        if isinstance(bound, int | float):
            bounds += (float(bound),)
    return {bound for bound in bounds if holds(read[0], bound)}


# Of updates in place


def is_computed_in_vain(sight: Sight) -> bool:
    """The tape computes what the other side goes on with, from the same value, and nothing reads it."""
    tape, other = sight.sides
    return any(
        _is_of_kind(vain, made) and sight.are_counterparts(*_first_read(vain, made, tape, other))
        for vain in _in_vain(tape)
        for made in _written(sight, other)
        if tape.flow.origins(vain) and other.flow.origins(made)
    )


def _first_read(vain: Node, made: Node, tape: Side, other: Side) -> tuple[Node, Node]:
    return tape.flow.origins(vain)[0], other.flow.origins(made)[0]


def _in_vain(side: Side) -> list[Node]:
    """The ops of the forward whose value nothing reads."""
    nodes = side.flow.graph.nodes
    return [
        it for it in nodes if (it.kind, it.phase) == ("op", "forward") and not side.flow.out_of(it)
    ]


def _written(sight: Sight, side: Side) -> list[Node]:
    """The ops that a side may have alone: that of the divergence, of the cause, and what they read."""
    nodes = [*side.row, *side.origins()]
    if sight.cause and sight.cause.side == side.name and sight.cause.node in side.flow.nodes:
        nodes.append(side.flow.nodes[sight.cause.node])
    return [node for node in nodes if node.kind == "op"]


IN_PLACE = frozenset({"add", "sub", "mul", "div"})
"""The families of the methods that change nothing on the CPU's tape."""


def _is_of_kind(vain: Node, made: Node) -> bool:
    return _kind(vain) == _kind(made) and _kind(vain) in IN_PLACE


def _kind(node: Node) -> str:
    """The family of an op, or of the op that it is in place."""
    return family(node.op.removeprefix("Inplace").removesuffix("Ext"))


def a_write_is_lost(sight: Sight) -> bool:
    """The tape writes to a view in vain, and PyTorch's op reads what was written to its own."""
    tape, other = sight.sides
    writes = [it for it in _in_vain(tape) if squashed(it.op) == "tensorscatterupdate"]
    is_view = any(
        family(origin.op) in ("reshape", "transpose")
        for write in writes
        for origin in tape.flow.origins(write)[:1]
    )
    return is_view and any(it.op.startswith("aten.copy_.") for it in _written(sight, other))


def a_saved_result_is_overwritten(sight: Sight) -> bool:
    """MindSpore's backward reads its forward's own result, to which an op in place writes."""
    ours = sight.sides[0]
    if ours.node is None or ours.forward not in ours.flow.origins(ours.node):
        return False
    readers = [ours.flow.nodes[edge.target] for edge in ours.flow.out_of(ours.forward)]
    return any(reader.op.startswith("Inplace") for reader in readers)
