"""What was tried where two ops give different values, and how near each change comes to the other value."""

from collections.abc import Iterable, Iterator

import msgspec

from explorer.compare.causes import change_of, place_of, room_of
from explorer.compare.rooms import distance
from explorer.compare.trials import Suspect
from explorer.model.causes import Attempt, Attempts, Change, OtherArguments, Tried

FEW = 4
"""How many changes are kept that give the other side's value, and how many that do not."""


def attempts_at(suspect: Suspect, tried: Tried) -> Attempts:
    """What was tried at an op; ``tried`` begins with its outputs where nothing is changed."""
    place = place_of(suspect, tried.outputs[0])
    room = room_of(suspect)
    count = len(suspect.trials) - 1
    made = Attempts(
        side=suspect.side, node=suspect.node.id, op=suspect.node.op, tried=count, is_repeated=False
    )
    if place is None or room is None:
        return made
    found = list(_attempts(suspect, tried, place))
    unchanged = distance(suspect.own, suspect.target)
    missed = [it for it in found if it.apart > room and it.apart != unchanged]
    return msgspec.structs.replace(
        made,
        not_computed=count - len(found),
        fitting=_fitting([it for it in found if it.apart <= room]),
        nearest=tuple(sorted(_different(missed), key=_apart)[:FEW]),
        is_repeated=True,
    )


def _attempts(suspect: Suspect, tried: Tried, place: int) -> Iterator[Attempt]:
    """The changes with which the op has a value to compare, those of one argument first."""
    for trial, outputs in zip(suspect.trials[1:], tried.outputs[1:], strict=True):
        apart = distance(outputs[place], suspect.target) if len(outputs) > place else None
        if apart is not None:
            yield Attempt(change_of(trial, suspect.node), apart)


def _fitting(found: Iterable[Attempt]) -> tuple[Change, ...]:
    """The changes that give the other side's value, without those that hold another one of them."""
    kept: list[Change] = []
    for attempt in found:
        if not any(_holds(attempt.change, other) for other in kept):
            kept.append(attempt.change)
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
