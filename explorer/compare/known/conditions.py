"""What must be true at a divergence, so that it is a known one: what is seen there, and conditions."""

from collections.abc import Callable
from math import isclose, isfinite, isnan, nan
from typing import NamedTuple

import numpy as np

from explorer.compare.graphs.view import MOVES, GraphView, reach
from explorer.model.arrays import AnyArray, unpack
from explorer.model.causes import Cause, FromLeaf, InsertOperator, Rewire
from explorer.model.divergence import (
    Divergence,
    OtherRate,
    OtherValue,
    Reading,
    ResultElsewhere,
)
from explorer.model.graph import Arguments, Layer, Node, Output, SideName
from explorer.operators.families import family, squashed

HANDING_ON = MOVES | {"identity", "contiguous"}
"""Families of ops behind which the same numbers are read."""


class Side(NamedTuple):
    """What one graph has at a divergence: its ``row`` of ops, none where it has no counterpart.

    ``forward`` is what they compute or differentiate: of a side without ops, the counterpart of the
    other side's. ``reads`` is what that reads, ``layer`` where it runs, without a name where that is in
    none, and ``arguments`` are those of the first op, and of what it derives from. ``names`` are the bare
    names and families of the ops, in backward of those that are differentiated; ``parties`` are the engine
    and its framework.
    """

    name: SideName
    flow: GraphView
    row: list[Node]
    forward: Node | None
    value: Reading
    parties: frozenset[str]
    names: frozenset[str]
    layer: Layer
    arguments: Arguments
    reads: list[Output]

    @property
    def size(self) -> float:
        """How large its number is that differs most; nan where that is not finite, or not known."""
        numbers = self.value.numbers
        return abs(numbers[0]) if numbers and all(map(isfinite, numbers)) else nan

    @property
    def is_nan(self) -> bool:
        """Whether what is read of it has a nan."""
        return any(map(isnan, self.value.numbers))

    def integers(self, name: str) -> tuple[int, ...]:
        """Of an argument the whole number, or those of a sequence."""
        value = self.arguments.get(name)
        values = value if isinstance(value, tuple) else (value,)
        return tuple(number for number in values if isinstance(number, int))

    def origins(self) -> list[Node]:
        """What the ops read, and behind what only moves numbers also what that reads."""
        nodes = self.flow.nodes

        def read(name: str) -> list[str]:
            return [origin for origin, _output in self.flow.slots(name)]

        start = [origin for node in self.row for origin in read(node.id)]
        moved = reach(start, lambda it: read(it) if family(nodes[it].op) in HANDING_ON else [])
        return [nodes[name] for name in moved]


Partners = dict[tuple[SideName, str], str]
"""The counterpart of each node, by its side and its id."""


class Context(NamedTuple):
    """A divergence, its cause where one is known, both sides, and which nodes are counterparts.

    The sides are in the order of a row's parties: where one is MindSpore's, it is the first.
    """

    divergence: Divergence
    cause: Cause | None
    ours: Side
    theirs: Side
    partners: Partners

    @property
    def sides(self) -> tuple[Side, Side]:
        """The side of the first party, and that of the second."""
        return self.ours, self.theirs

    @property
    def has_shapes(self) -> bool:
        """Whether the two values have other sizes."""
        return all(side.value.what == "shape" for side in self.sides)

    def changed(self, *names: str) -> tuple[float, ...]:
        """The op's own value of an argument and the one that gives the other side's, in order of size.

        Empty where the cause is not another number for one of these arguments.
        """
        change = self.cause.changed if self.cause else None
        if change is None or len(change.arguments) != 1:
            return ()
        ((name, other),) = change.arguments.items()
        own = change.own.get(name)
        if name not in names or not isinstance(own, float) or not isinstance(other, float):
            return ()
        return tuple(sorted((own, other)))

    def reads_equal(self, dtype: str = "") -> bool:
        """Whether both ops read the same, as was observed; their values are of a ``dtype`` that is given."""
        inputs = self.divergence.inputs if isinstance(self.divergence, OtherValue) else None
        if inputs is None or not inputs.are_observed or inputs.differing or any(inputs.alone):
            return False
        made = [output for it in self.sides if it.row for output in it.row[-1].outputs[:1]]
        return not dtype or {output.dtype for output in made} == {dtype}

    def differs_by(self, share: float) -> bool:
        """Whether the elements that differ most differ by at most that share of them."""
        gap, sizes = self.divergence.gap, [it.size for it in self.sides]
        if gap.is_least or gap.greatest is None or any(map(isnan, sizes)):
            return False
        return 0 < gap.greatest <= share * max(sizes)


Condition = Callable[[Context], bool]
"""Whether something is true of a divergence."""

CLOSE = 1e-5
"""How far two settings may be apart, relative to them, that were written as one."""


def is_close(setting: object, number: float) -> bool:
    """Whether a setting is a float that was written as a number."""
    return isinstance(setting, float) and isclose(setting, number, rel_tol=CLOSE)


# Layers and their settings


def pads_one_end_more(seen: Context) -> bool:
    """The cause is padding that is wider at one end, which MindSpore's mode "same" makes."""
    if seen.cause is None or seen.ours.arguments.get("pad_mode") != "same":
        return False
    padded = [it for it in seen.cause.edits if isinstance(it, InsertOperator) and it.op == "pad"]
    return any(it.numbers[::2] != it.numbers[1::2] for it in padded)


def pads_before_it_pools(seen: Context) -> bool:
    """MindSpore pads with a constant what it then pools; PyTorch's pooling pads by itself."""
    ours, theirs = seen.sides
    if not ours.row or ours.arguments.get("mode") != "constant":
        return False
    pooling = ours.flow.next_op(ours.row[0])
    widths = {*ours.integers("paddings")}
    is_as_wide = any(widths) and widths == {*theirs.integers("padding")}
    return is_as_wide and pooling is not None and family(pooling.op) == "maxpool"


def reads_negative(seen: Context) -> bool:
    """PyTorch's op reads a number below 0."""
    return any(it.values and it.values.minimum < 0 for it in seen.theirs.reads)


def rates_are_exchanged(seen: Context) -> bool:
    """The one dropout keeps the share that the other one drops."""
    rates: list[float | None] = []
    for side in seen.sides:
        # The share that a side's dropout drops, as its mask or its layer says.
        masks = (dropped_rate(output) for output in side.reads if side.row)
        found = next((rate for rate in masks if rate is not None), None)
        kept = side.layer.settings.get("keep_prob")
        rates.append(1 - kept if found is None and isinstance(kept, float) else found)
    one, other = seen.divergence.rates if isinstance(seen.divergence, OtherRate) else rates
    if one is None or other is None:
        return False
    return isclose(one + other, 1, abs_tol=CLOSE) and not isclose(one, other, abs_tol=CLOSE)


def dropped_rate(output: Output) -> float | None:
    """The share that a mask of dropout drops: it is 0 and 1/(1 - share); None of another value."""
    figures = output.values
    if figures is None or not figures.zeros or figures.minimum or figures.maximum <= 1:
        return None
    if set(figures.quantiles) - {0.0, figures.maximum}:
        return None
    return 1 - 1 / figures.maximum


def axes_are_those_swapped(seen: Context) -> bool:
    """MindSpore's order of axes is what PyTorch's transpose has as the two axes that it swaps."""
    axes: list[list[object]] = [[], []]
    for of_side, side in zip(axes, seen.sides, strict=True):
        for node in side.origins():
            given = node.arguments.get
            if node.op == "aten.transpose.int":
                of_side.append((given("dim0"), given("dim1")))
            elif squashed(node.op) == "transpose":
                of_side.append(given("dims") or given("input_perm"))
    return any(swap in axes[0] for swap in axes[1])


# Values that are wrong, or have few digits


def whole(output: Output) -> AnyArray | None:
    """All elements; None of a value that is large, or was not observed."""
    return unpack(output.whole) if output.whole else None


def holds(output: Output, number: float) -> bool:
    """Whether an element is exactly that number, as far as is known of a large value."""
    elements = whole(output)
    if elements is not None:
        return bool((elements == number).any())
    figures = output.values
    if figures is None or number == 0:
        return figures is not None and figures.zeros > 0
    return number in (figures.minimum, figures.maximum, *figures.quantiles)


def has_a_number_of_many_digits(seen: Context) -> bool:
    """Both ops are given one number, which single precision does not hold."""
    one, other = (it.arguments.get("other") for it in seen.sides)
    return isinstance(one, float) and one == other and float(np.float32(one)) != one


def equal_elements_come_out_unequal(seen: Context) -> bool:
    """MindSpore's op, a function of single elements, makes several numbers of one; they differ little."""
    if not seen.ours.row or not seen.differs_by(0.1):
        return False
    made = seen.ours.row[-1].outputs
    return bool(made) and any(are_unequal_for_equal(it, made[0]) for it in seen.ours.reads)


def are_unequal_for_equal(given: Output, made: Output) -> bool:
    """Whether a function of single elements makes several numbers of one."""
    inputs, outputs = whole(given), whole(made)
    if inputs is None or outputs is None or inputs.shape != outputs.shape:
        return False
    pairs = np.unique(np.stack([inputs.ravel(), outputs.ravel()]), axis=1)
    return bool(pairs.shape[1] > np.unique(inputs).size)


def a_row_is_masked(seen: Context) -> bool:
    """Both ops go along one axis, and read elements of minus infinity; MindSpore's value is 0 there."""
    ours, theirs = seen.sides
    axes = ours.integers("axis") + theirs.integers("dim")
    if ours.size != 0 or not theirs.is_nan or not ours.reads:
        return False
    if len({axis % len(ours.reads[0].shape) for axis in axes}) != 1:
        return False
    return any(it.values and it.values.infinities[1] for it in ours.reads)


def is_nan_at_zero(seen: Context) -> bool:
    """What is differentiated is 0 somewhere, and one value is nan there, where the other is finite."""
    is_nan_alone = seen.ours.is_nan != seen.theirs.is_nan
    made = [output for it in seen.sides if it.forward for output in it.forward.outputs]
    return is_nan_alone and any(holds(output, 0.0) for output in made)


def is_zero_to_the_zeroth(seen: Context) -> bool:
    """A power is differentiated of which a base and the exponent are 0."""
    for side in seen.sides:
        if side.forward is None or family(side.forward.op) != "pow" or not side.reads:
            continue
        base, *exponents = side.reads
        written = [side.forward.arguments.get(name) for name in ("exponent", "other", "power")]
        is_zero = 0 in [it for it in written if isinstance(it, (int, float))]
        if holds(base, 0.0) and (is_zero or any(holds(it, 0.0) for it in exponents)):
            return True
    return False


def label_is_read(seen: Context) -> bool:
    """The result is the gradient of what MindSpore's loss reads as its label."""
    if not isinstance(seen.divergence, ResultElsewhere):
        return False
    flow = seen.ours.flow
    losses = [it for it in flow.graph.nodes if it.op == "SigmoidCrossEntropyWithLogits"]
    read = [edge for it in losses if it.phase == "forward" for edge in flow.into(it)]
    labels = [flow.nodes[edge.origin].name for edge in read if edge.input == 1]
    return any(f"d{label}" == seen.divergence.name for label in labels)


# Gradients at kinks, and of one tensor


def is_one_tensor(seen: Context) -> bool:
    """The cause is that two inputs are one tensor."""
    sources = [it.source for it in seen.cause.edits if isinstance(it, Rewire)] if seen.cause else []
    return any(isinstance(it, FromLeaf) and it.is_one_tensor for it in sources)


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
    "aten.max.dim": "greatest_with_index",
    "argmaxwithvalue": "greatest_with_index",
}
"""Operators with a kink, by the convention that their gradient follows there."""


def are_other_spellings(seen: Context) -> bool:
    """The two ops follow other conventions at their kinks."""
    spelled = [it.forward and _spelling(it.forward) for it in seen.sides]
    return all(spelled) and len(set(spelled)) == 2


def _spelling(node: Node) -> str:
    return SPELLINGS.get(node.op) or SPELLINGS.get(squashed(node.op), "")


def are_at_one_kink(seen: Context) -> bool:
    """What both ops read is somewhere exactly at a number where both have a kink."""
    ours, theirs = map(_kinks, seen.sides)
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
    if side.forward is None or not side.reads:
        return set()
    spelling = _spelling(side.forward)
    if spelling == "maximum":
        return ties(*side.reads) if len(side.reads) == 2 else set()
    if spelling.startswith("greatest"):
        return repeated_greatest(side.reads[0])
    bounds = BOUNDS.get(squashed(side.forward.op), ())
    for name in ("min", "max", "min_val", "max_val"):
        bound = side.arguments.get(name)
        if isinstance(bound, int | float):
            bounds += (float(bound),)
    return {bound for bound in bounds if holds(side.reads[0], bound)}


def ties(one: Output, other: Output) -> set[float]:
    """The numbers at which two values are equal; none where not all elements are known."""
    first, second = whole(one), whole(other)
    if first is None or second is None:
        return set()
    tied, _ = np.broadcast_arrays(first, second)
    return {float(number) for number in tied[first == second]}


def repeated_greatest(output: Output) -> set[float]:
    """The greatest element of a value where it is there twice; none where not all are known."""
    elements = whole(output)
    if elements is None or elements.size < 2:
        return set()
    greatest = elements.max()
    return {float(greatest)} if (elements == greatest).sum() > 1 else set()
