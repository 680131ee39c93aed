"""Further outputs of a paired op that are nodes on the other side.

Such are the gradients of a convolution, which one engine's op yields together.
"""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.compare.align.buckets import Bucket
from explorer.compare.align.matching import NOISE, Matching
from explorer.compare.align.provenance import shared_origins
from explorer.compare.align.sides import OutputValue, Side, Vertex
from explorer.model.alignment import How


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
    elif matching.are_noise(output, other, NOISE):
        yield Sharing(output, other, "provenance")
