"""What was tried where two ops give different values, and how near each change comes to the other value."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from explorer.compare.causes.rooms import Room, apart_if_same, distance, room_of
from explorer.compare.causes.suspects import Suspect
from explorer.compare.causes.tried import change_of, ops_of_other_values, place_of
from explorer.model.causes import Attempt, Attempts, Change, OtherArguments, Tried
from explorer.model.graph import GradGraph

FEW = 4
"""How many changes are kept that give the other side's value, and how many that do not."""

UNDONE = 0.5
"""A change is near the other side's value where it undoes this part of the difference or more."""


def attempts_at(suspect: Suspect, tried: Tried, graph: GradGraph) -> Attempts:
    """What was tried at an op of a graph; ``tried`` begins with its outputs where nothing is changed."""
    room = room_of(suspect.own, suspect.target)
    place = place_of(suspect, tried.outputs[0], room)
    unchanged = distance(suspect.own, suspect.target)
    count = sum(not trial.changes_nothing for trial in suspect.trials)
    made = Attempts(
        side=suspect.side, node=suspect.node.id, op=suspect.node.op, tried=count, is_repeated=False
    )
    if place is None:
        return made
    found = list(_attempts(suspect, tried, place, graph, room))
    fitting = [attempt for attempt, fits in found if fits]
    near = (1 - UNDONE) * (unchanged or 0.0)
    missed = [attempt for attempt, fits in found if not fits and attempt.apart <= near]
    return msgspec.structs.replace(
        made,
        not_computed=count - len(found),
        fitting=_fitting(fitting),
        nearest=tuple(sorted(_different(missed), key=_apart)[:FEW]),
        is_repeated=True,
    )


def joined(made: Sequence[Attempts]) -> Attempts | None:
    """All that was tried at one divergence, on both sides; None where nothing was."""
    # What does not give its own value again tells nothing beside what does.
    telling = [it for it in made if it.is_repeated] or list(made)
    if not telling:
        return None
    nearest = sorted((it for each in telling for it in each.nearest), key=_apart)
    fitting = [attempt for each in telling for attempt in each.fitting]
    return msgspec.structs.replace(
        telling[0],
        tried=sum(it.tried for it in telling),
        not_computed=sum(it.not_computed for it in telling),
        fitting=tuple(fitting[:FEW]),
        nearest=tuple(nearest[:FEW]),
    )


def _attempts(
    suspect: Suspect, tried: Tried, place: int, graph: GradGraph, room: Room
) -> Iterator[tuple[Attempt, bool]]:
    """The changes with which the op has a value to compare, and whether it is the other side's."""
    nodes = graph.by_id()
    others = ops_of_other_values(suspect, tried, room)
    for trial, outputs in zip(suspect.trials, tried.outputs, strict=True):
        if trial.changes_nothing or trial.node in others:
            continue
        apart = distance(outputs[place], suspect.target) if len(outputs) > place else None
        if apart is not None:
            node = nodes[trial.node]
            fits = apart_if_same(outputs[place], suspect.target, room) is not None
            yield Attempt(node.op, change_of(trial, node), apart), fits


def _fitting(found: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """The changes that give the other side's value, without those that hold another one of them."""
    kept: list[Attempt] = []
    for attempt in found:
        if not any(_holds(attempt.change, other.change) for other in kept):
            kept.append(attempt)
    return tuple(kept[:FEW])


def _holds(change: Change, other: Change) -> bool:
    """Whether a change makes another one too."""
    if isinstance(change, OtherArguments) and isinstance(other, OtherArguments):
        return other.arguments.items() <= change.arguments.items()
    return change == other


def _different(found: Iterable[Attempt]) -> Iterable[Attempt]:
    """One change for each distance: a second argument may be without effect."""
    first: dict[float, Attempt] = {}
    for attempt in found:
        first.setdefault(attempt.apart, attempt)
    return first.values()


def _apart(attempt: Attempt) -> float:
    return attempt.apart
