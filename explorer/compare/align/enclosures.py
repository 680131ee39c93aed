"""What belongs to a pair beside its two nodes: steps inside an operator, further outputs.

A step is a product before its bias is added, where the other engine has one op for both. What the
other engine does in an op of the same family is no such step: it is compared with that op.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from explorer.compare.align.arithmetic import fits
from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import shared_origins, take_the_same
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex, in_order
from explorer.model.alignment import How

# Steps inside an operator


@dataclass(frozen=True)
class Enclosure:
    """Unpaired ``steps`` that nothing but a pair's node ``top`` uses, in execution order.

    ``into`` are the origins of what goes into them. ``families`` counts those that hold other numbers than
    what they read.
    """

    top: Vertex
    steps: tuple[Vertex, ...]
    into: frozenset[Vertex]

    @cached_property
    def families(self) -> Counter[str]:
        """How many steps of each family make numbers."""
        return Counter(step.family for step in self.steps if step.origin is step)


def enclose_steps(matching: Matching) -> None:
    """Finds, for each pair, the steps to its node that its partner takes inside itself.

    That holds by value: both nodes hold the same numbers, all that goes into the steps is paired
    with what goes into the partner, and nothing else uses the steps. In backward these are the
    incoming gradients; what forward kept may be any of its values. A step of which the other side
    has an op of the same family on its own way there is not inside, nor is one that cannot be
    what its op yields: nothing may hide in a pair.
    """
    for match in sorted(matching.matches, key=lambda match: match.first.node.rank):
        values = match.first, match.second
        are_alike = match.first.node.phase == match.second.node.phase and match.first.agrees(
            match.second
        )
        are_work = all(value.is_main and value.node.is_work for value in values)
        if match.how == "provenance" or not are_alike or not are_work:
            continue
        first, second = _enclosure(match.first.node), _enclosure(match.second.node)
        if not (first.steps or second.steps):
            continue
        inputs, other_inputs = _paired_inputs(first), _paired_inputs(second)
        if inputs is None or {node.counterpart for node in inputs} != other_inputs:
            continue
        _compare(matching, first, second)
        for one, other in ((first, second), (second, first)):
            own = [it for it in one.steps if it.origin is not it or it.family not in other.families]
            matching.enclose(one.top, tuple(filter(fits, own)))


def _enclosure(top: Vertex) -> Enclosure:
    """The steps to a node in its own phase, back to nodes with a partner or another user."""
    members = {top}
    around = set()
    stack = [top]
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

    steps = members - {top}
    # What was met before all its users had been may have become a step after all.
    into = {node.origin for node in around - steps}
    return Enclosure(top, tuple(in_order(steps)), frozenset(into))


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
        is_only = first.families[family] == second.families[family] == 1
        if not is_only or not take_the_same(step, other_steps[family]):
            continue
        other = other_steps[family]
        if matching.tolerance.are_one(step.value, other.value):
            matching.join(step.value, other.value, "provenance")
        # Two proven values differ because the ops do different things: another order of factors.
        elif not step.record.proof == other.record.proof == "proven":
            matching.contradict(step, other)


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
            for bucket in output.neighbours():
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
