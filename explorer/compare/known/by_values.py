"""What must be true of the values at a divergence, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

import numpy as np

from explorer.compare.known.sight import Condition, Side, Sight, has_shapes, integers
from explorer.compare.known.values import are_unequal_for_equal, holds, is_finite, is_nan
from explorer.model.divergence import OtherValue, ResultElsewhere
from explorer.model.families import family

SINGLE = 2.0**-23
"""By so much, relative to them, are numbers of single precision apart."""


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
    gap = sight.divergence.gap
    greatest = None if gap.is_least else gap.greatest
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
    axes = integers(ours.argument("axis")) + integers(theirs.argument("dim"))
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
    return has_shapes(sight) and len(ours) == 1 and theirs == ()


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
