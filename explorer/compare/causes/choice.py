"""Why two ops give different values for equal inputs: the least of all that was tried which explains it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from explorer.compare.causes.arguments import OF_SLICES
from explorer.compare.causes.candidates import Suspect, other_values
from explorer.compare.causes.inputs import later_place
from explorer.compare.causes.mends import mends
from explorer.compare.graphs.sameness import (
    Sameness,
    apart_if_same,
    apart_in_any_order,
    distance,
    is_telling,
    noise_of,
    room_of,
)
from explorer.compare.graphs.view import GraphView
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
from explorer.model.graph import GradGraph, Output


class _Explanation(NamedTuple):
    """A trial that gives a value of the other side's, and how far the two are still apart."""

    trial: Trial
    apart: float
    target: Output


def cause_of(suspect: Suspect, tried: Tried, left: GradGraph, right: GradGraph) -> Cause | None:
    """What gives the other side's value; None where nothing does, or several would."""
    found = _likeliest(_explanations(suspect, tried), suspect.other.op)
    if found is None:
        return None
    edits = found.trial.edits
    if any(
        isinstance(it, ReplaceOperator) and (it.node, it.op) in suspect.not_there for it in edits
    ):
        return None
    here, there = (left, right) if suspect.side == "left" else (right, left)
    node = here.by_id()[found.trial.row[0]]
    first, *others = (as_kept(edit, node.id) for edit in edits)
    if isinstance(first, RemoveOperator):
        later = later_place(GraphView(here), node, GraphView(there), suspect.other)
        first = msgspec.structs.replace(first, later=later)
    layers = here.layers.get(node.scope), there.layers.get(suspect.other.scope)
    cause = Cause(
        side=suspect.side,
        node=node.id,
        op=node.op,
        edits=(first, *others),
        proven="computed_again",
        greatest=found.apart,
        noise=noise_of(suspect.own, found.target),
        layers=layers if suspect.side == "left" else layers[::-1],
        tried=sum(bool(trial.edits) for trial in suspect.trials),
    )
    to_write = mends(cause, node, (left.engine, right.engine))
    return msgspec.structs.replace(cause, mends=to_write)


def as_kept(edit: Edit, node: str) -> Edit:
    """An edit as it is kept of the op of a cause; a value of the other side is known by its name."""
    if isinstance(edit, Rewire) and isinstance(edit.source, FromThere):
        edit = msgspec.structs.replace(edit, source=FromThere(edit.source.label))
    return msgspec.structs.replace(edit, node="") if edit.node == node else edit


# What edits cost: the least of those that explain a value is its cause

COSTS: dict[Form, float] = {
    "order": 1.5,
    "removed_op": 1.9,
    "removed": 2,
    "operator": 3,
    "value": 6,
}
"""What edits cost by what they are together, beside one other argument, which costs 1."""

SEVERAL = 5.0
"""What two other arguments cost, and one with the other side's inputs."""

OF_SOURCES: dict[type[Source], float] = {FromSlot: 4, Zeros: 4, FromNode: 8, FromThere: 9}
"""What another input costs. Of those that another op yields one may fit by chance."""

AT_INPUTS = 7.0
"""What an operator at an input costs, but for padding and conditions: one behind says it better."""

BELIEVED = ("1/n", "1/√n", "1-p", "p")
"""What a factor is of a number at hand where it is no chance."""


def cost(edits: Edits) -> float:
    """How much is changed by edits, as a number by which they are ranked."""
    form = form_of(edits)
    first = edits[0]
    if form == "arguments":
        names = frozenset(first.arguments if isinstance(first, SetArguments) else ())
        is_one = len(names) == 1 or any(names and names <= slice_ for slice_ in OF_SLICES)
        return 1.0 if is_one else SEVERAL
    if form == "order":
        return COSTS[form] + 0.1 * len(edits)
    if form == "inputs":
        return max(_cost_of_input(edit) for edit in edits)
    return COSTS[form] - (0.5 if form == "value" and is_believed(edits) else 0)


def is_believed(edits: Edits) -> bool:
    """Whether a factor that is inserted is something of a number that is at hand."""
    factors = [edit.factor for edit in edits if isinstance(edit, InsertOperator) and edit.factor]
    return any(factor.form in BELIEVED for factor in factors)


def _cost_of_input(edit: Edit) -> float:
    if isinstance(edit, Rewire):
        return OF_SOURCES[type(edit.source)]
    is_of_op = not isinstance(edit, InsertOperator) or edit.op in ("pad", "not")
    return 4.0 if is_of_op else AT_INPUTS


# What explains a value


def _explanations(suspect: Suspect, tried: Tried) -> list[_Explanation]:
    """The trials that give the other side's value.

    There are none where the op, computed as it was, does not give its own value.
    """
    unchanged, *changed = tried.outputs
    room = room_of(suspect.own, suspect.target)
    place = _place_of(suspect, unchanged, room)
    if place is None:
        return []
    others = _ops_of_other_values(suspect, tried, room)
    with_more = [it.edits[:-1] for it in suspect.trials if _is_from_there(it.edits[:-1])]
    for target in (suspect.target, *suspect.further):
        found = []
        for trial, outputs in zip(suspect.trials[1:], changed, strict=True):
            if trial.edits and trial.row[0] not in others and len(outputs) > place:
                found += _explanation(suspect.own, target, trial, outputs[place])
        # Where the other side's inputs alone give its value, the two ops do the same, and what they read
        # differs before.
        alone = [it.trial.edits for it in found if it.trial.edits in with_more]
        found = [
            it for it in found if it.trial.edits not in alone and it.trial.edits[:-1] not in alone
        ]
        if found:
            return found
    return []


def _is_from_there(edits: Edits) -> bool:
    """Whether edits put in values of the other side alone."""
    return bool(edits) and all(
        isinstance(it, Rewire) and isinstance(it.source, FromThere) for it in edits
    )


def _explanation(own: Output, target: Output, trial: Trial, made: Output) -> list[_Explanation]:
    """What a trial explains: nothing if it does not give the other side's value."""
    # What makes one number of all does it by chance.
    is_chance = _puts_in_a_value(trial.edits) and not is_telling(target)
    can_be_compared = own.shape != target.shape or distance(own, target) is not None
    if is_chance or not can_be_compared:
        return []
    room = room_of(own, target)
    apart = apart_if_same(made, target, room)
    is_removed = isinstance(trial.edits[0], RemoveOperator) and len(trial.row) > 1
    if apart is None and is_removed and own.shape != target.shape:
        apart = apart_in_any_order(made, target, own, room)
    return [] if apart is None else [_Explanation(trial, apart, target)]


def _puts_in_a_value(edits: Edits) -> bool:
    """Whether zeros of a state or another value of the graph are put in."""
    is_filled = any(
        isinstance(edit, Rewire) and isinstance(edit.source, Zeros) and edit.source.is_filled
        for edit in edits
    )
    return is_filled or bool(other_values(edits))


def _ops_of_other_values(suspect: Suspect, tried: Tried, room: Sameness) -> set[str]:
    """The ops of a row that, computed as they were, do not give its value: a change of them tells nothing."""
    others = set()
    for trial, outputs in zip(suspect.trials, tried.outputs, strict=True):
        if not trial.edits and _place_of(suspect, outputs, room) is None:
            others.add(trial.row[0])
    return others


def _place_of(suspect: Suspect, outputs: tuple[Output, ...], room: Sameness) -> int | None:
    """Which of its outputs an op's own value is."""
    for place, output in enumerate(outputs):
        if apart_if_same(output, suspect.own, room) is not None:
            return place
    return None


def _likeliest(found: list[_Explanation], other: str) -> _Explanation | None:
    """The explanation of the least cost; None where there are several such, or none.

    ``other`` is the op of the other side, whose name decides between two operators: below 6, relu and
    relu6 are one.
    """
    least = min((cost(it.trial.edits) for it in found), default=0)
    found = [it for it in found if cost(it.trial.edits) == least]
    if len(found) > 1 and least == COSTS["operator"]:
        found = [it for it in found if _is_named(it.trial.edits[0], other)]
    kinds = {_kind(it.trial.edits) for it in found}
    return found[0] if len(kinds) == 1 else None


def _kind(edits: Edits) -> object:
    """What edits change. Any value that replaces an input and fits is as good as another one."""
    kinds: list[object] = []
    for edit in edits:
        if isinstance(edit, SetArguments):
            kinds.append((edit.node, frozenset(edit.arguments)))
        elif isinstance(edit, Rewire):
            kinds.append((edit.node, edit.slots, type(edit.source)))
        elif isinstance(edit, ReplaceOperator):
            kinds.append((edit.node, edit.op))
        else:
            kinds.append(edit)
    return tuple(kinds)


STANDS_FOR = {"max": "relu", "logistic": "sigmoid", "integer_pow": "square"}
"""Operations of JAX's graphs that other frameworks have an operator of another name for."""


def _is_named(edit: Edit, other: str) -> bool:
    """Whether an operator that is tried has the name of another one: "aten.relu.default", "ReLU"."""
    if not isinstance(edit, ReplaceOperator):
        return True
    return _plain(edit.op) in (_plain(other), STANDS_FOR.get(other))


def _plain(op: str) -> str:
    """The name of an operator of either framework: "relu" of "aten.relu.default" and "ReLU"."""
    _, *names = op.split(".") if "." in op else ("", op)
    return names[0].replace("_", "").removesuffix("Ext").lower()


# How near all comes that was tried

FEW = 4
"""How many trials are kept that give the other side's value, and how many that do not."""

UNDONE = 0.5
"""A trial is near the other side's value where it undoes this part of the difference or more."""


def attempts_at(suspect: Suspect, tried: Tried, graph: GradGraph) -> Attempts:
    """What was tried at an op of a graph; ``tried`` begins with its outputs where nothing is changed."""
    room = room_of(suspect.own, suspect.target)
    place = _place_of(suspect, tried.outputs[0], room)
    count = sum(bool(trial.edits) for trial in suspect.trials)
    made = Attempts(
        side=suspect.side, node=suspect.node.id, op=suspect.node.op, tried=count, is_repeated=False
    )
    if place is None:
        return made
    found = list(_attempts(suspect, tried, place, graph, room))
    fitting: list[Attempt] = []
    for attempt, fits in found:
        # What holds another one that fits says no more than that.
        if fits and not any(_holds(attempt.edits, other.edits) for other in fitting):
            fitting.append(attempt)
    near = (1 - UNDONE) * (distance(suspect.own, suspect.target) or 0.0)
    # One for each distance: a second argument may be without effect.
    missed: dict[float, Attempt] = {}
    for attempt, fits in found:
        if not fits and attempt.apart <= near:
            missed.setdefault(attempt.apart, attempt)
    return msgspec.structs.replace(
        made,
        not_computed=count - len(found),
        fitting=tuple(fitting[:FEW]),
        nearest=tuple(missed[apart] for apart in sorted(missed)[:FEW]),
        is_repeated=True,
    )


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


def _attempts(
    suspect: Suspect, tried: Tried, place: int, graph: GradGraph, room: Sameness
) -> Iterator[tuple[Attempt, bool]]:
    """The trials with which the op has a value to compare, and whether it is the other side's."""
    nodes = graph.by_id()
    others = _ops_of_other_values(suspect, tried, room)
    for trial, outputs in zip(suspect.trials, tried.outputs, strict=True):
        if not trial.edits or trial.row[0] in others:
            continue
        apart = distance(outputs[place], suspect.target) if len(outputs) > place else None
        if apart is not None:
            edits = tuple(as_kept(edit, trial.row[0]) for edit in trial.edits)
            fits = apart_if_same(outputs[place], suspect.target, room) is not None
            yield Attempt(nodes[trial.row[0]].op, edits, apart), fits


def _holds(edits: Edits, other: Edits) -> bool:
    """Whether edits make others too."""
    first, second = edits[-1], other[-1]
    if isinstance(first, SetArguments) and isinstance(second, SetArguments):
        return second.arguments.items() <= first.arguments.items()
    return edits == other
