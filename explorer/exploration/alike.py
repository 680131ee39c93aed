"""Further places of a mistake whose cause is known, such as one eps in many equal layers."""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import msgspec

from explorer.compare.align.joints import Joint, Seam
from explorer.compare.causes.candidates import Suspect
from explorer.compare.causes.choice import cause_of
from explorer.compare.graphs.view import Slot
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, OtherValue, Place, Places
from explorer.model.graph import OTHER, GradGraph, Node, Output, SideName

Outputs = tuple[tuple[Output, ...], ...]
"""The outputs of each of some trials."""


class Alike(NamedTuple):
    """Two ops at another place that may differ by the same cause, that of ``side`` first.

    ``gradients`` are the outputs in backward by which they hand gradients on, where each has one.
    """

    side: SideName
    places: Places
    node: Node
    other: Node
    gradients: tuple[Slot, Slot] | None

    @property
    def seam(self) -> Seam:
        """How the two are joined again: the one gets the first output of the other, and its gradient."""
        parts = {self.side: frozenset({self.node.id}), OTHER[self.side]: frozenset({self.other.id})}
        shapes = self.node.outputs[0].shape, self.other.outputs[0].shape
        joints = [Joint((self.node.id, 0), (self.other.id, 0), shapes)]
        if self.gradients is not None:
            joints.append(Joint(*self.gradients, shapes))
        return Seam(parts, {self.side: tuple(joints), OTHER[self.side]: ()}, is_assumed=False)


def alike_at(
    divergence: Divergence, cause: Cause, here: GradGraph, there: GradGraph, side: SideName
) -> list[Alike]:
    """The places where the two ops of a divergence follow, with the arguments that the cause names.

    There are none where it is no change of an op of ``side``, that of ``here``.
    """
    if not (isinstance(divergence, OtherValue) and _is_of_op(cause) and cause.side == side):
        return []
    ends = divergence.nodes if side == "left" else divergence.nodes[::-1]
    if cause.node != ends[0] or any(row.count > 1 for row in divergence.rows):
        return []
    by_place, others_by_place = _by_place(here), _by_place(there)
    found = []
    for places in divergence.also_at:
        left, right = map(_key, places)
        nodes = by_place.get(left if side == "left" else right, [])
        counterparts = others_by_place.get(right if side == "left" else left, [])
        if len(nodes) == len(counterparts) == 1 and _has_own(nodes[0], cause):
            own, other = _gradient(here, nodes[0]), _gradient(there, counterparts[0])
            gradients = (own, other) if own and other else None
            found.append(Alike(side, places, nodes[0], counterparts[0], gradients))
    return found


def _is_of_op(cause: Cause) -> bool:
    """Whether a cause is an op with other arguments, or another operator."""
    return len(cause.edits) == 1 and cause.form in ("arguments", "operator")


def _gradient(graph: GradGraph, node: Node) -> Slot | None:
    """The only output as large as an op's that an op in backward makes which derives from it."""
    size = prod(node.outputs[0].shape)
    slots = []
    for derived in graph.nodes:
        if derived.forward == node.id and derived.phase == "backward" and derived.kind == "op":
            shapes = [output.shape for output in derived.outputs]
            slots += [(derived.id, at) for at, shape in enumerate(shapes) if prod(shape) == size]
    return slots[0] if len(slots) == 1 else None


def trials_at(alike: Alike, cause: Cause) -> tuple[Trial, Trial]:
    """The op at a place as it was, and with the change that the cause is."""
    node = alike.node.id
    edits = [msgspec.structs.replace(edit, node=node) for edit in cause.edits]
    return Trial((node,)), Trial((node,), tuple(edits))


def differs_so(
    alike: Alike, cause: Cause, outputs: Outputs, graphs: tuple[GradGraph, GradGraph]
) -> bool:
    """Whether the change gives the other side's value at a place where the op as it was does not."""
    unchanged, _ = outputs
    if not unchanged:
        return False
    # The value that was put in is not what the op yields.
    own, target = unchanged[0], alike.other.outputs[0]
    suspect = Suspect(alike.side, alike.node, alike.other, own, target, trials_at(alike, cause))
    return cause_of(suspect, Tried(outputs), *graphs) is not None


def once_more(
    divergence: Divergence, cause: Cause | None, earlier: Divergence, known: Cause | None
) -> Cause | None:
    """The cause of an earlier divergence, with the place of one that has the same; None where it has not.

    The same two ops differ at both, by the same change of one of them.
    """
    if not (cause and known and _is_of_op(cause)):
        return None
    if not (isinstance(divergence, OtherValue) and isinstance(earlier, OtherValue)):
        return None
    ops, known_ops = (
        [(row.first.label, row.last) for row in it.rows] for it in (divergence, earlier)
    )
    if (ops, cause.side, cause.edits) != (known_ops, known.side, known.edits):
        return None
    left, right = divergence.rows
    places = (*known.also_at, (left.first, right.first), *cause.also_at)
    return msgspec.structs.replace(known, also_at=places)


def _by_place(graph: GradGraph) -> dict[tuple[str, str, str], list[Node]]:
    """The ops of forward by where a reader finds them."""
    found: dict[tuple[str, str, str], list[Node]] = {}
    for node in _ops(graph):
        source = node.source[0] if node.source else ""
        found.setdefault((node.op, node.scope, source), []).append(node)
    return found


def _ops(graph: GradGraph) -> Iterator[Node]:
    return (node for node in graph.nodes if node.phase == "forward" and node.outputs)


def _key(place: Place) -> tuple[str, str, str]:
    return place.label, place.scope, place.source


def _has_own(node: Node, cause: Cause) -> bool:
    """Whether an op has the arguments that the cause replaces."""
    return cause.own.items() <= node.arguments.items()
