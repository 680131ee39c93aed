"""What is tried to explain the divergences of two graphs, and what of it does explain them."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from math import prod
from typing import NamedTuple

from msgspec.structs import replace

from explorer.compare.align.alignment import Joint, Seam
from explorer.compare.causes.candidates import Suspect, of_one_step, suspects_at
from explorer.compare.causes.choice import COSTS, attempts_at, cause_of, cost, joined
from explorer.compare.causes.from_values import related_cause
from explorer.compare.explained.mending import Half, Mending
from explorer.compare.graphs.layouts import Laid, in_one_layout
from explorer.compare.graphs.view import GraphView
from explorer.compare.known.table import known
from explorer.model.alignment import Alignment, Seen
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, ExtraOps, OtherValue, Places
from explorer.model.graph import GradGraph, Node, Output, Slot

MANY = 8
"""So many divergences of an alignment are looked into with all that can be tried."""

BRIEF = 40
"""What is tried at each of the others: what comes first."""

Waiting = Mapping[str, Iterator[tuple[Output, ...]]]
"""The outputs of trials by engine, in their order; each takes those of its own."""


class Explanations:
    """All that may explain the divergences of an alignment of two graphs.

    A divergence may have a suspect on each side. Where pairs may be a step of a loop apart, an op may not
    be said to read what ``other_steps`` made. ``may_be_tried`` says of an op, by the engine and the id of
    its node, whether it can be computed again.
    """

    def __init__(
        self,
        alignment: Alignment,
        graphs: tuple[GradGraph, GradGraph],
        other_steps: bool = True,
        may_be_tried: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._alignment = alignment
        self._laid = in_one_layout(*graphs)
        left, right = self._laid.graphs
        moved = self._laid.moved
        self._views = GraphView(left, moved["left"]), GraphView(right, moved["right"])
        # Of each divergence, each with the engine in which it is tried.
        self._suspects: list[list[tuple[str, Suspect]]] = []
        for number, divergence in enumerate(alignment.divergences):
            self._suspects.append([])
            for suspect in suspects_at(divergence, *self._views):
                engine = alignment.left if suspect.side == "left" else alignment.right
                if not may_be_tried(engine, suspect.node.id):
                    continue
                if not other_steps:
                    suspect = of_one_step(suspect, self._views[suspect.side == "right"])
                if number >= MANY:
                    suspect = suspect._replace(trials=suspect.trials[:BRIEF])
                self._suspects[-1].append((engine, suspect))

    def trials(self) -> dict[str, tuple[Trial, ...]]:
        """What is to be tried, by engine."""
        trials: dict[str, tuple[Trial, ...]] = {}
        for engine, suspect in chain.from_iterable(self._suspects):
            trials[engine] = trials.get(engine, ()) + suspect.trials
        return trials

    def explained(self, tried: Waiting) -> Alignment:
        """The alignment with the causes that were found, and with what is known of its divergences."""
        alignment, graphs = self._alignment, self._laid.graphs
        seen = []
        for divergence, suspects in zip(alignment.divergences, self._suspects, strict=True):
            made = [
                (suspect, as_seen(suspect, tried[engine], self._laid))
                for engine, suspect in suspects
                if engine in tried
            ]
            found = [cause_of(suspect, outputs, *graphs) for suspect, outputs in made]
            least = min(filter(None, found), key=lambda it: cost(it.edits), default=None)
            cause = self._cause(divergence, least)
            attempts = [
                attempts_at(it, outputs, graphs[it.side == "right"]) for it, outputs in made
            ]
            references = known(alignment, divergence, cause, self._views)
            seen.append(Seen(divergence, cause, joined(attempts), references))
        return replace(alignment, seen=tuple(seen))

    def _cause(self, divergence: Divergence, tried: Cause | None) -> Cause | None:
        """What was tried, or how the two values follow from one another, where that is less of a change."""
        cause = tried
        if tried is None or tried.form == "removed" or cost(tried.edits) >= COSTS["value"]:
            related = related_cause(divergence, *self._views)
            if tried is None or (related is not None and tried.form != "removed"):
                cause = related
            elif related is not None and related.form == "removed_op":
                # Of the same op, which then says what it does to what it reads.
                is_same = (related.side, related.node) == (tried.side, tried.node)
                cause = related if is_same else tried
        if cause is not None and isinstance(divergence, ExtraOps):
            # The other side has no such op to be given arguments: it may do that inside another one.
            own = tuple(mend for mend in cause.mends if mend.side == cause.side)
            cause = replace(cause, mends=own)
        return cause and self._laid.in_own_axes(cause, divergence.nodes)


def as_seen(suspect: Suspect, outputs: Iterator[tuple[Output, ...]], laid: Laid) -> Tried:
    """The next outputs of a suspect's trials, as they lie in the graphs that are compared."""
    made = islice(outputs, len(suspect.trials))
    return Tried(tuple(laid.as_seen(suspect.side, suspect.node.id, it) for it in made))


# Further places of a mistake whose cause is known, such as one eps in many equal layers


class FurtherPlace(NamedTuple):
    """Two ops at another place that may differ by the same cause.

    ``suspect`` is tried as it was and with the cause's edits. ``seam`` joins the graphs again: the one op
    gets the value of the other and, where each has one, the gradient that it hands on.
    """

    places: Places
    suspect: Suspect
    seam: Seam


def further_places(
    divergence: Divergence, cause: Cause, mending: Mending
) -> Iterator[FurtherPlace]:
    """The places where the two ops of a divergence follow, with the arguments that the cause names.

    There are none where it is no change of an op of the side that is computed again.
    """
    here, there = mending.here, mending.there
    if not (isinstance(divergence, OtherValue) and _is_of_op(cause) and cause.side == here.name):
        return
    order = 1 if here.name == "left" else -1
    if cause.node != divergence.nodes[::order][0] or any(row.count > 1 for row in divergence.rows):
        return
    by_place, others_by_place = _by_place(here), _by_place(there)
    for places in divergence.also_at:
        own, other = ((it.label, it.scope, it.source) for it in places[::order])
        nodes, others = by_place.get(own, []), others_by_place.get(other, [])
        if not len(nodes) == len(others) == 1:
            continue
        (node,), (counterpart,) = nodes, others
        if not cause.own.items() <= node.arguments.items():
            continue
        edits = tuple(replace(edit, node=node.id) for edit in cause.edits)
        trials = Trial((node.id,)), Trial((node.id,), edits)
        outputs = node.outputs[0], counterpart.outputs[0]
        joined = [((node.id, 0), (counterpart.id, 0))]
        gradient, of_other = _gradient(here, node), _gradient(there, counterpart)
        if gradient and of_other:
            joined.append((gradient, of_other))
        shapes = outputs[0].shape, outputs[1].shape
        joints = tuple(Joint(*slots, shapes) for slots in joined)
        parts = {here.name: frozenset({node.id}), there.name: frozenset({counterpart.id})}
        seam = Seam(parts, {here.name: joints, there.name: ()}, is_assumed=False)
        yield FurtherPlace(places, Suspect(here.name, node, counterpart, *outputs, trials), seam)


def differs_so(place: FurtherPlace, outputs: Iterator[tuple[Output, ...]], laid: Laid) -> bool:
    """Whether the cause's edits give the other side's value, which the op as it was does not.

    ``outputs`` begin with those of the trials, as the engine gives them.
    """
    suspect = place.suspect
    made = as_seen(suspect, outputs, laid)
    if len(made.outputs) < len(suspect.trials) or not made.outputs[0]:
        return False
    # The value that was put in is not what the op yields.
    suspect = suspect._replace(own=made.outputs[0][0])
    return cause_of(suspect, made, *laid.graphs) is not None


def once_more(one: Seen, earlier: Seen) -> Seen | None:
    """An earlier divergence whose cause has the place of one too; None where that has another cause.

    The same two ops differ at both, by the same change of one of them.
    """
    cause, known = one.cause, earlier.cause
    both = one.divergence, earlier.divergence
    if not (cause and known and _is_of_op(cause)):
        return None
    rows = [it.rows for it in both if isinstance(it, OtherValue)]
    ops = [[(row.first.label, row.last) for row in it] for it in rows]
    if len(ops) < 2 or (ops[0], cause.side, cause.edits) != (ops[1], known.side, known.edits):
        return None
    left, right = rows[0]
    places = (*known.also_at, (left.first, right.first), *cause.also_at)
    return replace(earlier, cause=replace(known, also_at=places))


def _is_of_op(cause: Cause) -> bool:
    """Whether a cause is an op with other arguments, or another operator."""
    return len(cause.edits) == 1 and cause.form in ("arguments", "operator")


def _by_place(half: Half) -> dict[tuple[str, str, str], list[Node]]:
    """The ops of forward by where a reader finds them: their op, module and line."""
    found: dict[tuple[str, str, str], list[Node]] = {}
    for node in half.nodes.values():
        if node.phase == "forward" and node.outputs:
            source = node.source[0] if node.source else ""
            found.setdefault((node.op, node.scope, source), []).append(node)
    return found


def _gradient(half: Half, node: Node) -> Slot | None:
    """The only output as large as an op's that an op in backward makes which derives from it."""
    size = prod(node.outputs[0].shape)
    slots = [
        (derived.id, place)
        for derived in half.view.derived(node)
        if derived.phase == "backward" and derived.kind == "op"
        for place, output in enumerate(derived.outputs)
        if prod(output.shape) == size
    ]
    return slots[0] if len(slots) == 1 else None
