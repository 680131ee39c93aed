"""What belongs to a pair beside its two nodes: steps inside an operator, further outputs.

A step is a product before its bias is added, where the other engine has one op for both. What the
other engine does in an op of the same family is no such step: it is compared with that op. Nor is an
op whose value cannot be what it yields from its recorded inputs, by plain arithmetic.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple

import numpy as np

from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import shared_origins
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex, in_order
from explorer.compare.graphs.sameness import within
from explorer.model.alignment import How
from explorer.numeric.differences import Floats

# Steps inside an operator


class Enclosure(NamedTuple):
    """Unpaired ``steps`` that nothing but a pair's node ``top`` uses, in execution order.

    ``into`` are the origins of what goes into them. ``families`` counts those that hold other numbers than
    what they read.
    """

    top: Vertex
    steps: list[Vertex]
    into: set[Vertex]
    families: Counter[str]


def enclose_steps(matching: Matching) -> None:
    """Finds, for each pair, the steps to its node that its partner takes inside itself.

    That holds by value: both nodes hold the same numbers, all that goes into the steps is paired
    with what goes into the partner, and nothing else uses the steps. In backward these are the
    incoming gradients; what forward kept may be any of its values. A step of which the other side
    has an op of the same family on its own way there is not inside, nor is one that cannot be
    what its op yields: nothing may hide in a pair.
    """
    for match in sorted(matching.matches, key=lambda match: match.first.node.rank):
        one, other = match.first, match.second
        are_work = all(value.is_main and value.node.is_work for value in (one, other))
        are_alike = one.node.phase == other.node.phase and one.agrees(other)
        if match.how == "provenance" or not (are_work and are_alike):
            continue
        first, second = _enclosure(one.node), _enclosure(other.node)
        if not (first.steps or second.steps):
            continue
        inputs, other_inputs = _paired_inputs(first), _paired_inputs(second)
        if inputs is None or {node.counterpart for node in inputs} != other_inputs:
            continue
        _compare(matching, first, second)
        for here, there in ((first, second), (second, first)):
            own = [
                it for it in here.steps if it.origin is not it or it.family not in there.families
            ]
            here.top.steps = tuple(filter(fits, own))
            for step in here.top.steps:
                step.host = here.top


def _enclosure(top: Vertex) -> Enclosure:
    """The steps to a node in its own phase, back to nodes with a partner or another user."""
    members, around, stack = {top}, set(), [top]
    while stack:
        for node in stack.pop().feeders:
            is_unpaired_work = node.is_free and node.is_work and node.main is not None
            # What backward reads of forward does not count as a use.
            is_used_within = members.issuperset(node.users_in_phase)
            if not is_unpaired_work or node.phase != top.phase or not is_used_within:
                around.add(node)
            elif node not in members:
                members.add(node)
                stack.append(node)

    steps = in_order(members - {top})
    # What was met before all its users had been may have become a step after all.
    into = {node.origin for node in around.difference(steps)}
    return Enclosure(top, steps, into, Counter(it.family for it in steps if it.origin is it))


def _paired_inputs(enclosure: Enclosure) -> set[Vertex] | None:
    """The inputs of steps that have a counterpart; None where one lacks it that needs one."""
    inputs = set()
    for node in enclosure.into:
        if enclosure.top.phase == "backward" and node.phase == "forward":
            # What forward kept may be any of an op's values: engines keep others for one op.
            is_paired = node.counterpart is not None or node.is_paired
            if not (is_paired or node.is_leaf or node.kind == "constant"):
                return None
        elif node.counterpart:
            inputs.add(node)
        elif node.kind != "constant" and node.family != "fill":
            return None  # its numbers come from elsewhere: the other op does not hold them itself
    return inputs


# Steps of one family on both sides


def _compare(matching: Matching, first: Enclosure, second: Enclosure) -> None:
    """Compares the only steps of a family on either side, where these take the same inputs."""
    steps, other_steps = (
        {step.family: step for step in it.steps if step.origin is step} for it in (first, second)
    )
    for family, step in steps.items():
        if not first.families[family] == second.families[family] == 1:
            continue
        other = other_steps[family]
        wanted = {origin.counterpart for origin in step.origins}
        if not wanted or wanted != set(other.origins):
            continue
        if matching.tolerance.are_one(step.value, other.value):
            matching.join(step.value, other.value, "provenance")
        # Two proven values differ because the ops do different things: another order of factors.
        elif not step.record.proof == other.record.proof == "proven":
            matching.contradictions.update({step: other, other: step})


# Further outputs


Sharing = tuple[OutputValue, OutputValue, How]
"""An output of a paired op, the value of a node of the other side that is the same, and the evidence."""


def share_outputs(matching: Matching) -> None:
    """Pairs what is still free with a further output of a paired op."""
    for side in matching.sides:
        # All are found before any is paired: one that is taken now may not decide what is kin.
        sharings = [*_equal_outputs(side), *_makers_of_results(matching, side)]
        for output, other, how in sharings:
            if not output.is_taken and not other.node.is_paired:
                matching.share(output, other, how)


def _equal_outputs(side: Side) -> Iterator[Sharing]:
    """Outputs of paired ops, each with a free node of the other side of equal value and descent."""
    unpaired: dict[Bucket, list[Vertex]] = {}
    for node in side.other.work:
        if node.value.bucket is not None and not node.is_paired:
            unpaired.setdefault(node.value.bucket, []).append(node)
    for node in side.work:
        if node.is_free:
            continue
        further = [output for output in node.values if output is not node.main and output.varies]
        for output in further:
            for bucket in output.near:
                for other in unpaired.get(bucket, ()):
                    # They derive from what is paired in forward, or are fed by what is paired.
                    are_kin = shared_origins(node, other) > 0
                    if node.forward and other.forward:
                        partner = node.forward.representative.partner
                        are_kin = partner is not None and partner is other.forward.representative
                    if are_kin and node.phase == other.phase:
                        yield output, other.value, "value+provenance"


def _makers_of_results(matching: Matching, side: Side) -> Iterator[Sharing]:
    """The outputs and nodes that make the results of one name.

    The name tells where numbers do not, as in a gradient that cancels to noise about zero.
    """
    for match in matching.matches:
        result, other_result = match.on(side).node, match.on(side.other).node
        if match.how != "name" or not result.is_result:
            continue
        # Each is fed by one value at most.
        for output, other in zip(result.inputs[:1], other_result.inputs[:1], strict=False):
            are_work = output.node.is_work and other.node.is_work
            if are_work and not output.node.is_free and matching.tolerance.are_one(output, other):
                how: How = "value+provenance" if output.agrees(other) else "provenance"
                yield output, other, how


# Whether a recorded value is what its op yields from its recorded inputs
#
# An engine proves a value by running the op again, with its attributes. This is the check that a record
# alone allows, for the families whose arithmetic needs no attribute, or few to try.


Arithmetic = Callable[[Sequence[Floats], Floats], Iterable[Floats]]
"""Takes what an op reads and what it yields; gives everything that it might yield."""

ROOM = 1e-3
"""The part of an element, and of the greatest one, by which a value may be off."""

ROUNDING = 1e-6
"""The part of what is summed up by which a sum may be off that cancels."""

POWERS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, -0.5, -1.0, -2.0)
"""Exponents that are tried where a record does not name them."""

GREATEST = 1e4
"""Greater numbers may be put in from outside: masks fill with -1e9."""


def fits(node: Vertex) -> bool:
    """Whether a node's value can be right, by its inputs or by what is computed from it.

    It can where nothing tells.
    """
    own = is_yielded(node)
    if own is not None:
        return own
    verdicts = {is_yielded(user) for user in node.users_in_phase if user.is_work}
    return True in verdicts or False not in verdicts


def is_yielded(node: Vertex) -> bool | None:
    """Whether a node holds what its op yields from its inputs; None where that is not known."""
    value = _floats(node.main)
    inputs = [_floats(read) for read in node.inputs]
    known = [array for array in inputs if array is not None]
    if value is None or not inputs or len(known) < len(inputs):
        return None
    room = max(ROOM, 4 * node.coarseness)
    with np.errstate(all="ignore"):
        if node.family in MOVES:
            return _is_moved(value, known, room, may_fill=node.family in FILLS)
        arithmetic = ARITHMETIC.get((node.family, len(known)))
        candidates: list[Floats] = []
        # Where shapes do not broadcast, the op has a meaning of its own.
        with contextlib.suppress(ValueError):
            yielded = arithmetic(known, value) if arithmetic else ()
            candidates = [array for array in yielded if array.size == value.size]
        if not candidates:
            return None
        greatest = max(float(np.abs(array).max()) for array in known)
        terms = max(array.size for array in known) / value.size
        floor = room * float(np.abs(value).max()) + ROUNDING * greatest * max(terms, 1.0)
        # In whatever layout.
        held = np.sort(value, axis=None)
        return any(within(np.sort(it, axis=None), held, (room, floor)) for it in candidates)


def _floats(value: OutputValue | None) -> Floats | None:
    """All elements in their shape, where they are known, finite and real."""
    numbers = None if value is None else value.finite_numbers
    if value is None or numbers is None or not 0 < numbers.size == value.size:
        return None
    return numbers.reshape(value.shape)


def _is_moved(value: Floats, inputs: Sequence[Floats], room: float, may_fill: bool) -> bool:
    """Whether an op that moves numbers about holds none but those of its inputs, or a fill."""
    own = np.unique(np.concatenate([np.ravel(array) for array in inputs]))
    held = np.unique(value)
    places = np.clip(np.searchsorted(own, held), 1, max(own.size - 1, 1))
    nearest = np.minimum(
        np.abs(held - own[np.minimum(places, own.size - 1)]), np.abs(held - own[places - 1])
    )
    foreign = np.abs(held[nearest > room * np.abs(held)])
    if may_fill:
        foreign = foreign[~(np.isin(foreign, (0.0, 1.0)) | (foreign > GREATEST))]
    return not foreign.size


# What the families compute


def _elementwise(function: Callable[..., Floats]) -> Arithmetic:
    return lambda inputs, _: [function(*inputs)]


def _sum(inputs: Sequence[Floats], value: Floats) -> Iterator[Floats]:
    """A sum of tensors, the second perhaps along channels, or times a factor that is not seen."""
    one, other = inputs
    for second in _along_any_axis(other, one):
        yield one + second
        if not value.shape == one.shape == second.shape or second.size == 1:
            continue
        # The factor is what the greatest element tells.
        place = np.unravel_index(int(np.abs(second).argmax()), second.shape)
        if second[place]:
            factor = (value[place] - one[place]) / second[place]
            yield one + second * float(f"{factor:.1e}")  # people write round ones


def _along_any_axis(array: Floats, like: Floats) -> Iterator[Floats]:
    """An array as it broadcasts to another, or in one row along any axis of it, as a bias does."""
    with contextlib.suppress(ValueError):
        yield np.broadcast_to(array, np.broadcast_shapes(array.shape, like.shape))
    if array.ndim == 1:
        for axis, length in enumerate(like.shape):
            if length == array.size:
                shape = [1] * like.ndim
                shape[axis] = length
                yield np.broadcast_to(array.reshape(shape), like.shape)


def _product(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Matrix products of two tensors, each as it is or transposed."""
    if min(array.ndim for array in inputs) < 2:
        return
    for one, other in product(*((array, np.swapaxes(array, -1, -2)) for array in inputs)):
        if one.shape[-1] == other.shape[-2]:
            yield np.matmul(one, other)


def _reduction(function: Callable[..., Floats]) -> Arithmetic:
    """A reduction along whichever axes."""

    def arithmetic(inputs: Sequence[Floats], _: Floats) -> Iterable[Floats]:
        (array,) = inputs
        counts = range(1, array.ndim + 1)
        some = chain.from_iterable(combinations(range(array.ndim), count) for count in counts)
        return [np.asarray(function(array, axis=axes)) for axes in some] or [array]

    return arithmetic


def _softmax(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    (array,) = inputs
    for axis in range(array.ndim):
        powers = np.exp(array - array.max(axis, keepdims=True))
        yield powers / powers.sum(axis, keepdims=True)


def _softmax_gradient(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Of an incoming gradient and the softmax, in either order."""
    for gradient, softmax in (tuple(inputs), tuple(reversed(inputs))):
        if gradient.shape == softmax.shape:
            for axis in range(softmax.ndim):
                inner = (gradient * softmax).sum(axis, keepdims=True)
                yield softmax * (gradient - inner)


ARITHMETIC: dict[tuple[str, int], Arithmetic] = {
    ("add", 2): _sum,
    # Engines differ in which of the two is taken from the other.
    ("sub", 2): lambda inputs, _: (inputs[0] - inputs[1], inputs[1] - inputs[0]),
    ("mul", 2): _elementwise(np.multiply),
    ("div", 2): _elementwise(np.divide),
    ("neg", 1): _elementwise(np.negative),
    ("abs", 1): _elementwise(np.abs),
    ("exp", 1): _elementwise(np.exp),
    ("log", 1): _elementwise(np.log),
    ("sin", 1): _elementwise(np.sin),
    ("cos", 1): _elementwise(np.cos),
    ("tanh", 1): _elementwise(np.tanh),
    ("sqrt", 1): _elementwise(np.sqrt),
    ("relu", 1): _elementwise(lambda array: np.maximum(array, 0)),
    ("sigmoid", 1): _elementwise(lambda array: 1 / (1 + np.exp(-array))),
    ("pow", 1): lambda inputs, _: [inputs[0] ** exponent for exponent in POWERS],
    ("matmul", 2): _product,
    ("sum", 1): _reduction(np.sum),
    ("mean", 1): _reduction(np.mean),
    ("max", 1): _reduction(np.max),
    ("expand", 1): lambda inputs, value: [np.repeat(inputs[0], value.size // inputs[0].size)],
    ("softmax", 1): _softmax,
    ("logsoftmax", 1): lambda inputs, value: map(np.log, _softmax(inputs, value)),
    ("softmaxgrad", 2): _softmax_gradient,
}
"""What a family computes, by the number of tensors that an op reads."""

FILLS = frozenset({"maskedfill", "where", "constantpadnd", "scatternd"})
"""Families that move numbers about, and put in one that is filled with: 0, ±1, or a great one."""

MOVES = FILLS | {
    *("reshape", "transpose", "identity", "slice", "concat", "embedding"),
    *("split", "tensormove", "inplacecopy", "cast"),
}
"""Families that move numbers about."""
