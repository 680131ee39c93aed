"""What belongs to a pair beside its two nodes: steps inside an operator, further outputs.

A step is a product before its bias is added, where the other engine has one op for both. What the
other engine does in an op of the same family is no such step: it is compared with that op.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from explorer.compare.align.arithmetic import fits
from explorer.compare.align.matching import Match, Matching
from explorer.compare.align.provenance import shared_origins, take_the_same
from explorer.compare.align.sameness import NOISE
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex, in_order
from explorer.model.alignment import How

# Steps inside an operator


@dataclass(frozen=True)
class Enclosure:
    """Unpaired ``steps`` that nothing but a pair's node ``top`` uses, in execution order.

    ``into`` are the origins of what goes into them.
    """

    top: Vertex
    steps: tuple[Vertex, ...]
    into: frozenset[Vertex]


def enclose_steps(matching: Matching) -> None:
    """Finds, for each pair, the steps to its node that its partner takes inside itself.

    That holds by value: both nodes hold the same numbers, all that goes into the steps is paired
    with what goes into the partner, and nothing else uses the steps. In backward these are the
    incoming gradients; what forward kept may be any of its values. A step of which the other side
    has an op of the same family on its own way there is not inside, nor is one that cannot be
    what its op yields: nothing may hide in a pair.
    """
    for match in sorted(matching.matches, key=lambda match: match.first.node.rank):
        if _may_enclose(match):
            first, second = _enclosure(match.first.node), _enclosure(match.second.node)
            has_steps = first.steps != () or second.steps != ()
            if has_steps and _are_fed_alike(first, second):
                _compare(matching, first, second)
                for one, other in ((first, second), (second, first)):
                    steps = _without_counterpart(one, other)
                    matching.enclose(one.top, tuple(step for step in steps if fits(step)))


def _may_enclose(match: Match) -> bool:
    """Whether a pair is of work in one phase, by main values that are known to agree."""
    first, second = match.first, match.second
    if (
        match.how == "provenance"
        or first.node.phase != second.node.phase
        or not first.agrees(second)
    ):
        return False
    return _is_main_work(first) and _is_main_work(second)


def _is_main_work(value: OutputValue) -> bool:
    return value.is_main and value.node.is_work


def _enclosure(top: Vertex) -> Enclosure:
    """The steps to a node in its own phase, back to nodes with a partner or another user."""
    members = {top}
    around = set()
    stack = [top]
    while stack:
        for node in stack.pop().feeders:
            if not _may_be_step(node, top) or not _is_used_within(node, members):
                around.add(node)
            elif node not in members:
                members.add(node)
                stack.append(node)

    steps = members - {top}
    # What was met before all its users had been may have become a step after all.
    into = {node.origin for node in around - steps}
    return Enclosure(top, tuple(in_order(steps)), frozenset(into))


def _may_be_step(node: Vertex, top: Vertex) -> bool:
    """Whether a node is unpaired work of the same phase whose value is known."""
    return node.is_free and node.is_work and node.phase == top.phase and node.main is not None


def _is_used_within(node: Vertex, members: set[Vertex]) -> bool:
    """Whether only members use a node; what backward reads of forward does not count."""
    users = {user for user in node.consumers if user.phase == node.phase}
    return users <= members


def _are_fed_alike(first: Enclosure, second: Enclosure) -> bool:
    inputs, other_inputs = _paired_inputs(first), _paired_inputs(second)
    if inputs is None or other_inputs is None:
        return False
    return {node.counterpart for node in inputs} == other_inputs


def _paired_inputs(enclosure: Enclosure) -> set[Vertex] | None:
    """The inputs of steps that have a counterpart; None where one lacks it that needs one."""
    inputs = set()
    for node in enclosure.into:
        if _is_kept(node, enclosure.top):
            if not _is_known(node):
                return None
        elif node.counterpart:
            inputs.add(node)
        elif not _is_given(node):
            return None
    return inputs


def _is_kept(node: Vertex, top: Vertex) -> bool:
    """Whether a backward node reads what forward kept: engines may keep other values for one op."""
    return top.phase == "backward" and node.phase == "forward"


def _is_known(node: Vertex) -> bool:
    """Whether what forward kept is paired, or needs no partner."""
    is_paired = node.counterpart is not None or node.is_paired
    return is_paired or node.is_leaf or node.kind == "constant"


def _is_given(node: Vertex) -> bool:
    """Whether a node's numbers do not come from elsewhere: the other op may hold them itself."""
    return node.kind == "constant" or node.family == "fill"


# Steps of one family on both sides


def _compare(matching: Matching, first: Enclosure, second: Enclosure) -> None:
    """Compares the only steps of a family on either side, where these take the same inputs."""
    counts, other_counts = _families(first), _families(second)
    others = {step.family: step for step in second.steps if _makes_numbers(step)}
    for step in first.steps:
        family = step.family
        if _makes_numbers(step) and counts[family] == other_counts[family] == 1:
            other = others[family]
            if take_the_same(step, other):
                _compare_values(matching, step, other)


def _compare_values(matching: Matching, step: Vertex, other: Vertex) -> None:
    """Pairs two steps that hold the same; the others contradict each other, unless both are right.

    Two proven values differ because the ops do different things: another order of factors.
    """
    value, other_value = step.value, other.value
    if value.agrees(other_value) or matching.tolerance.are_noise(value, other_value, NOISE):
        matching.join(value, other_value, "provenance")
    elif not step.record.proof == other.record.proof == "proven":
        matching.contradict(step, other)


def _without_counterpart(enclosure: Enclosure, other: Enclosure) -> tuple[Vertex, ...]:
    """The steps of which the other side has no op of the same family."""
    there = _families(other)
    return tuple(
        step for step in enclosure.steps if not _makes_numbers(step) or step.family not in there
    )


def _families(enclosure: Enclosure) -> Counter[str]:
    return Counter(step.family for step in enclosure.steps if _makes_numbers(step))


def _makes_numbers(step: Vertex) -> bool:
    """Whether a step holds other numbers than what it reads."""
    return step.origin is step


# Further outputs


class Sharing(NamedTuple):
    """An output of a paired op, and the value of a node of the other side that is the same."""

    output: OutputValue
    other: OutputValue
    how: How


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
    unpaired = _unpaired_by_bucket(side.other)
    for output in _further_outputs(side):
        for bucket in output.neighbours():
            for other in unpaired.get(bucket, ()):
                if _are_kin(output.node, other):
                    yield Sharing(output, other.value, "value+provenance")


def _further_outputs(side: Side) -> Iterator[OutputValue]:
    """The outputs of paired ops beside their main values, as far as they vary."""
    for node in side.work:
        if not node.is_free:
            for output in node.values:
                if output is not node.main and output.varies:
                    yield output


def _unpaired_by_bucket(side: Side) -> dict[Bucket, list[Vertex]]:
    """The work of a side that is in no pair, by what it holds."""
    unpaired: dict[Bucket, list[Vertex]] = {}
    for node in side.work:
        if node.value.bucket is not None and not node.is_paired:
            unpaired.setdefault(node.value.bucket, []).append(node)
    return unpaired


def _are_kin(node: Vertex, other: Vertex) -> bool:
    """Whether two nodes derive from what is paired in forward, or are fed by what is paired."""
    if node.phase != other.phase:
        return False
    if node.forward and other.forward:
        partner = node.forward.representative.partner
        return partner is not None and partner is other.forward.representative
    return shared_origins(node, other) > 0


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
            if output.node.is_work and other.node.is_work and not output.node.is_free:
                yield from _same_made(matching, output, other)


def _same_made(matching: Matching, output: OutputValue, other: OutputValue) -> Iterator[Sharing]:
    if output.agrees(other):
        yield Sharing(output, other, "value+provenance")
    elif matching.tolerance.are_noise(output, other, NOISE):
        yield Sharing(output, other, "provenance")
