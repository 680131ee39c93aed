"""Further places of a mistake whose cause is known, such as one eps in many equal layers."""

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

import msgspec

from explorer.compare.align.alignment import Joint, Seam
from explorer.compare.causes.candidates import Suspect
from explorer.compare.causes.choice import cause_of
from explorer.compare.graphs.layouts import Laid
from explorer.compare.graphs.view import Slot
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, OtherValue, Places
from explorer.model.graph import OTHER, GradGraph, Node, Output, SideName

Key = tuple[str, str, str]
"""An op, its module and its line."""


class FurtherPlace(NamedTuple):
    """Two ops at another place that may differ by the same cause.

    ``suspect`` is tried as it was and with the cause's edits. ``seam`` joins the graphs again: the one op
    gets the value of the other and, where each has one, the gradient that it hands on.
    """

    places: Places
    suspect: Suspect
    seam: Seam


def further_places(
    divergence: Divergence, cause: Cause, laid: Laid, side: SideName
) -> list[FurtherPlace]:
    """The places where the two ops of a divergence follow, with the arguments that the cause names.

    There are none where it is no change of an op of ``side``.
    """
    order = 1 if side == "left" else -1
    here, there = laid.graphs[::order]
    if not (isinstance(divergence, OtherValue) and _is_of_op(cause) and cause.side == side):
        return []
    if cause.node != divergence.nodes[::order][0] or any(row.count > 1 for row in divergence.rows):
        return []
    by_place, others_by_place = _by_place(here), _by_place(there)
    found = []
    for places in divergence.also_at:
        own, other = ((it.label, it.scope, it.source) for it in places[::order])
        nodes, others = by_place.get(own, []), others_by_place.get(other, [])
        if len(nodes) == len(others) == 1 and cause.own.items() <= nodes[0].arguments.items():
            node, counterpart = nodes[0], others[0]
            edits = tuple(msgspec.structs.replace(edit, node=node.id) for edit in cause.edits)
            trials = Trial((node.id,)), Trial((node.id,), edits)
            outputs = node.outputs[0], counterpart.outputs[0]
            suspect = Suspect(side, node, counterpart, *outputs, trials)
            shapes = node.outputs[0].shape, counterpart.outputs[0].shape
            joints = [Joint((node.id, 0), (counterpart.id, 0), shapes)]
            gradient, of_other = _gradient(here, node), _gradient(there, counterpart)
            if gradient and of_other:
                joints.append(Joint(gradient, of_other, shapes))
            parts = {side: frozenset({node.id}), OTHER[side]: frozenset({counterpart.id})}
            seam = Seam(parts, {side: tuple(joints), OTHER[side]: ()}, is_assumed=False)
            found.append(FurtherPlace(places, suspect, seam))
    return found


def differs_so(place: FurtherPlace, outputs: Iterable[tuple[Output, ...]], laid: Laid) -> bool:
    """Whether the cause's edits give the other side's value, which the op as it was does not.

    ``outputs`` are those of the trials, as the engine gives them.
    """
    suspect = place.suspect
    made = tuple(laid.as_seen(suspect.side, suspect.node.id, one) for one in outputs)
    if len(made) < len(suspect.trials) or not made[0]:
        return False
    # The value that was put in is not what the op yields.
    suspect = suspect._replace(own=made[0][0])
    return cause_of(suspect, Tried(made), *laid.graphs) is not None


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


def _is_of_op(cause: Cause) -> bool:
    """Whether a cause is an op with other arguments, or another operator."""
    return len(cause.edits) == 1 and cause.form in ("arguments", "operator")


def _by_place(graph: GradGraph) -> dict[Key, list[Node]]:
    """The ops of forward by where a reader finds them."""
    found: dict[Key, list[Node]] = {}
    for node in graph.nodes:
        if node.phase == "forward" and node.outputs:
            source = node.source[0] if node.source else ""
            found.setdefault((node.op, node.scope, source), []).append(node)
    return found


def _gradient(graph: GradGraph, node: Node) -> Slot | None:
    """The only output as large as an op's that an op in backward makes which derives from it."""
    size = prod(node.outputs[0].shape)
    slots = [
        (derived.id, place)
        for derived in graph.nodes
        if derived.forward == node.id and derived.phase == "backward" and derived.kind == "op"
        for place, output in enumerate(derived.outputs)
        if prod(output.shape) == size
    ]
    return slots[0] if len(slots) == 1 else None
