"""Why two ops give different values for equal inputs: the least of all that was tried which explains it."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from explorer.compare.causes.arguments import OF_SLICES
from explorer.compare.causes.candidates import Suspect
from explorer.compare.causes.leaves import is_number, later_place
from explorer.compare.causes.rows import elsewhere
from explorer.compare.graphs.sameness import (
    apart_if_same,
    apart_in_any_order,
    distance,
    is_telling,
    noise_of,
    numbers_of,
    room_of,
)
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import pack, unpack
from explorer.model.causes import (
    Attempt,
    Attempts,
    Cause,
    Edit,
    Edits,
    Form,
    FromNode,
    FromSlot,
    FromThere,
    Inserted,
    InsertOperator,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Source,
    Trial,
    Tried,
    Zeros,
    form_of,
)
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.summaries import summarise
from explorer.operators.families import BOOKKEEPING, family, squashed
from explorer.operators.mends import mends
from explorer.operators.table import TRIED


class Explanation(NamedTuple):
    """A trial that gives a value of the other side's, and how far the two are still apart."""

    trial: Trial
    apart: float
    target: Output


def cause_of(suspect: Suspect, tried: Tried, left: GradGraph, right: GradGraph) -> Cause | None:
    """What gives the other side's value; None where nothing does, or several would."""
    explanations = _explanations(suspect, tried)
    least = min((cost(it.trial.edits) for it in explanations), default=0)
    cheapest = [it for it in explanations if cost(it.trial.edits) == least]
    if len(cheapest) > 1 and least == COSTS["operator"]:
        # The name of the other op decides between two operators: below 6, relu and relu6 are one.
        other, *ops = (
            squashed(op).removesuffix("ext")
            for op in (suspect.other.op, *(getattr(it.trial.edits[0], "op", "") for it in cheapest))
        )
        names = other, TRIED.stands_for.get(suspect.other.op)
        cheapest = [it for it, op in zip(cheapest, ops, strict=True) if op in names]
    if len({tuple(map(_kind, it.trial.edits)) for it in cheapest}) != 1:
        return None
    found = cheapest[0]
    edits = found.trial.edits
    replaced = {(it.node, it.op) for it in edits if isinstance(it, ReplaceOperator)}
    if replaced & suspect.not_there:
        return None
    here, there = (left, right) if suspect.side == "left" else (right, left)
    node = op_of(found.trial, here.by_id())
    first, *others = (as_kept(edit, node.id) for edit in edits)
    if isinstance(first, RemoveOperator):
        later = later_place(GraphView(here), node, GraphView(there), suspect.other)
        first = msgspec.structs.replace(first, later=later)
    layers = here.layers.get(node.scope), there.layers.get(suspect.other.scope)
    cause = Cause(
        side=suspect.side,
        node=node.id,
        op=node.op,
        source=elsewhere(node, suspect.node),
        edits=(first, *others),
        proven="computed_again",
        greatest=found.apart,
        noise=noise_of(suspect.own, found.target),
        layers=layers if suspect.side == "left" else layers[::-1],
        tried=sum(bool(trial.edits) for trial in suspect.trials),
        within=next((label for label, value in suspect.within if value is found.target), ""),
    )
    to_write = mends(cause, node, (left.engine, right.engine))
    if cause.is_opposite:
        # The other side writes another op.
        to_write = tuple(mend for mend in to_write if mend.side == cause.side)
    if cause.within:
        to_write = ()  # that alone would not mend it
    return msgspec.structs.replace(cause, mends=to_write)


def op_of(trial: Trial, nodes: Mapping[str, Node]) -> Node:
    """The op that a cause names: the first of a row; of several that are edited the first that computes."""
    edited = dict.fromkeys(edit.node for edit in trial.edits)
    of_several = len(edited) > 1 and form_of(trial.edits) == "inputs"
    computing = [it for it in edited if family(nodes[it].op) not in BOOKKEEPING]
    return nodes[(computing if of_several and computing else trial.row)[0]]


def as_kept(edit: Edit, node: str) -> Edit:
    """An edit as it is kept of the op of a cause; a value of the other side is known by its name.

    A number is kept as well.
    """
    if isinstance(edit, Rewire) and isinstance(edit.source, FromThere):
        label, value = edit.source.label, edit.source.value
        number = pack(unpack(value).flat[:1], value.dtype) if value and is_number(value) else None
        edit = msgspec.structs.replace(edit, source=FromThere(label, number))
    return msgspec.structs.replace(edit, node="") if edit.node == node else edit


# What edits cost: the least of those that explain a value is its cause

COSTS: dict[
    Form | Inserted | type[Source] | Literal["of_zero", "several", "read_there", "number"], float
] = {
    "arguments": 1,
    "order": 1.5,
    "of_zero": 1.8,  # where an op has 0, which bounds or adds nothing: two ops may be in the other order
    "removed_op": 1.9,
    "removed": 2,
    "operator": 3,
    FromSlot: 4,
    Zeros: 4,
    "pad": 4,
    "not": 3.9,  # of the two that a condition chooses from, it says as much as that they are exchanged
    "number": 4,  # the one with which the other side fills something
    "reshape": 4.2,  # what both read, as the other side reads it: two exchanged inputs say more
    "read_there": 4.5,  # a value of the graph that the other side's op reads
    "several": 5,  # two other arguments, or one with the other side's inputs
    "value": 6,
    "roll": 6.9,  # a shift, or two halves exchanged, where the reverse has the same sum
    "inputs": 7,  # an operator at an input: one behind says it better
    FromNode: 8,  # what another op yields may fit by chance
    FromThere: 9,
}
"""What edits cost by what they are together, or by what is at an input."""


def _is_read_there(source: Source) -> bool:
    """Whether the op of the other side reads the value that is put in."""
    return isinstance(source, FromNode) and source.is_read_there


def _known_as(source: Source) -> type[Source] | Literal["number", "read_there"]:
    """What a source costs as."""
    if isinstance(source, FromThere) and is_number(source.value):
        return "number"
    return "read_there" if _is_read_there(source) else type(source)


BELIEVED = ("1/n", "1/√n", "1-p", "p")
"""What a factor is of a number at hand where it is no chance."""


def cost(edits: Edits) -> float:
    """How much is changed by edits, as a number by which they are ranked."""
    form, first = form_of(edits), edits[0]
    if form == "arguments":
        names = frozenset(first.arguments if isinstance(first, SetArguments) else ())
        is_one = len(names) == 1 or any(names and names <= slice_ for slice_ in OF_SLICES)
        numbers = first.own.values() if isinstance(first, SetArguments) else ()
        if is_one and all(isinstance(it, float) and not it for it in numbers):
            return COSTS["of_zero"]
        return COSTS["arguments" if is_one else "several"]
    if form == "inputs":
        if len({edit.node for edit in edits}) > 1:
            return COSTS[FromSlot]  # two values that a row reads are exchanged
        rewired = [it.source for it in edits if isinstance(it, Rewire)]
        sources = [COSTS[_known_as(it)] for it in rewired]
        others = [it.op for it in edits if isinstance(it, InsertOperator)]
        return max(sources + [COSTS.get(op, COSTS[form]) for op in others])
    believed = 0.5 if form == "value" and is_believed(edits) else 0
    dropped = sum(isinstance(edit, RemoveOperator) for edit in edits) if form == "order" else 0
    of_order = 0.1 * len(edits) + COSTS["removed"] * dropped if form == "order" else 0
    return COSTS[form] - believed + of_order


def is_believed(edits: Edits) -> bool:
    """Whether a factor that is inserted is something of a number that is at hand."""
    factors = [edit.factor for edit in edits if isinstance(edit, InsertOperator) and edit.factor]
    return any(factor.form in BELIEVED for factor in factors)


# What explains a value


def _computed(suspect: Suspect, tried: Tried) -> list[tuple[Trial, Output]] | None:
    """The trials with which an op has a value to compare, and that value.

    None where the op, computed as it was, does not give its own value. A change of an op of a row that
    does not give its value so tells nothing either.
    """
    room = room_of(suspect.own, suspect.target)
    computed = list(zip(suspect.trials, tried.outputs, strict=True))
    # Which output of each first op of a row is the value, where nothing is changed.
    places: dict[str, int | None] = {}
    for trial, outputs in computed:
        if not trial.edits:
            apart = [apart_if_same(output, suspect.own, room) for output in outputs]
            same = [place for place, it in enumerate(apart) if it is not None]
            places[trial.row[0]] = same[0] if same else None
    place = places[suspect.trials[0].row[0]]
    if place is None:
        return None
    return [
        (trial, outputs[place])
        for trial, outputs in computed
        if trial.edits and places.get(trial.row[0], place) is not None and len(outputs) > place
    ]


def _explanations(suspect: Suspect, tried: Tried) -> list[Explanation]:
    """The trials that give the other side's value, or the nearest one behind it that any gives."""
    own, computed = suspect.own, _computed(suspect, tried) or ()
    # What other arguments were tried with: the other side's inputs.
    edits_made = [trial.edits for trial in suspect.trials if len(trial.edits) > 1]
    of_there = [edits[:-1] for edits in edits_made if form_of(edits) == "arguments"]
    opposite = _opposite(own, suspect.target)
    # The values that may be given, and by edits of which forms alone.
    targets: list[tuple[Output, tuple[Form, ...]]] = [
        *((target, ()) for target in (suspect.target, *suspect.further)),
        *((target, ("arguments",)) for target in opposite),
        *((target, ("arguments", "operator")) for _, target in suspect.within),
    ]
    for target, forms in targets:
        if own.shape == target.shape and distance(own, target) is None:
            continue  # they cannot be compared
        found = []
        room = room_of(own, target)
        for trial, made in computed:
            is_of_form = not forms or form_of(trial.edits) in forms
            if not is_of_form or _is_by_chance(trial.edits, target):
                continue
            apart = apart_if_same(made, target, room)
            is_removed = isinstance(trial.edits[0], RemoveOperator) and len(trial.row) > 1
            if apart is None and is_removed and own.shape != target.shape:
                apart = apart_in_any_order(made, target, own, room)
            if target in opposite:
                inverted = InsertOperator(op="not", node=trial.row[0])
                trial = msgspec.structs.replace(trial, edits=(*trial.edits, inverted))
            # What rounds by chance comes near.
            is_rounded = any(getattr(edit, "op", "") == "cast" for edit in trial.edits)
            if apart is not None and not (is_rounded and apart > room.base):
                found.append(Explanation(trial, apart, target))
        # Where the other side's inputs alone give its value, the two ops do the same, and what they read
        # differs before.
        alone = [it.trial.edits for it in found if it.trial.edits in of_there]
        found = [
            it for it in found if it.trial.edits not in alone and it.trial.edits[:-1] not in alone
        ]
        if found:
            return found
    return []


def _is_by_chance(edits: Edits, target: Output) -> bool:
    """Whether another op, or one that reads something else, makes one number of all by chance."""
    if is_telling(target):
        return False
    sources = [edit.source for edit in edits if isinstance(edit, Rewire)]
    # What the other side reads too, and no leaf where it has none, is no guess.
    is_known = any(
        _is_read_there(it) or (isinstance(it, Zeros) and not it.is_filled) for it in sources
    )
    return not is_known and any(isinstance(edit, Rewire | ReplaceOperator) for edit in edits)


def _opposite(own: Output, target: Output) -> tuple[Output, ...]:
    """The condition that holds where the other side's does not: masks are of either sense.

    None where an op has that already.
    """
    first, second = numbers_of(own), numbers_of(target)
    if own.dtype != "bool" or target.dtype != "bool" or first is None or second is None:
        return ()
    if first.shape == second.shape and (first != second).all():
        return ()
    return (Output(target.shape, target.dtype, summarise(second == 0)),)


def _kind(edit: Edit) -> object:
    """What an edit changes. Any value that replaces an input and fits is as good as another one."""
    match edit:
        case SetArguments():
            return edit.node, frozenset(edit.arguments)
        case Rewire():
            return edit.node, edit.slots, type(edit.source)
        case ReplaceOperator():
            return edit.node, edit.op
    return edit


# How near all comes that was tried

FEW = 4
"""How many trials are kept that give the other side's value, and how many that do not."""

UNDONE = 0.5
"""A trial is near the other side's value where it undoes this part of the difference or more."""


def attempts_at(suspect: Suspect, tried: Tried, graph: GradGraph) -> Attempts:
    """What was tried at an op of a graph; ``tried`` begins with its outputs where nothing is changed."""
    node, target = suspect.node, suspect.target
    computed = _computed(suspect, tried)
    count = sum(bool(trial.edits) for trial in suspect.trials)
    made = Attempts(side=suspect.side, node=node.id, op=node.op, tried=count, is_repeated=False)
    if computed is None:
        return made
    nodes, room = graph.by_id(), room_of(suspect.own, target)
    near = (1 - UNDONE) * (distance(suspect.own, target) or 0.0)
    fitting: list[Attempt] = []
    # One for each distance: a second argument may be without effect.
    missed: dict[float, Attempt] = {}
    compared = 0
    for trial, output in computed:
        apart = distance(output, target)
        if apart is None or _is_by_chance(trial.edits, target):
            continue
        compared += 1
        edits = tuple(as_kept(edit, trial.row[0]) for edit in trial.edits)
        attempt = Attempt(nodes[trial.row[0]].op, edits, apart)
        if apart_if_same(output, target, room) is None:
            if apart <= near:
                missed.setdefault(apart, attempt)
        # What holds another one that fits says no more than that.
        elif not any(_holds(edits, other.edits) for other in fitting):
            fitting.append(attempt)
    return msgspec.structs.replace(
        made,
        not_computed=count - compared,
        fitting=tuple(fitting[:FEW]),
        nearest=tuple(missed[apart] for apart in sorted(missed)[:FEW]),
        is_repeated=True,
    )


def _holds(edits: Edits, other: Edits) -> bool:
    """Whether edits make others too."""
    first, second = edits[-1], other[-1]
    if isinstance(first, SetArguments) and isinstance(second, SetArguments):
        return second.arguments.items() <= first.arguments.items()
    return edits == other


def joined(made: Sequence[Attempts]) -> Attempts | None:
    """All that was tried at one divergence, on both sides; None where nothing was."""
    # What does not give its own value again tells nothing beside what does.
    telling = [it for it in made if it.is_repeated] or list(made)
    if not telling:
        return None
    nearest = sorted((it for each in telling for it in each.nearest), key=lambda it: it.apart)
    fitting = [attempt for each in telling for attempt in each.fitting]
    return msgspec.structs.replace(
        telling[0],
        tried=sum(it.tried for it in telling),
        not_computed=sum(it.not_computed for it in telling),
        fitting=tuple(fitting[:FEW]),
        nearest=tuple(nearest[:FEW]),
    )
