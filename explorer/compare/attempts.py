"""What was tried where two ops give different values, and how near each change comes to the other value."""

from collections.abc import Iterator

from explorer.compare.causes import change_of, distance, place_of, room_of
from explorer.compare.trials import Suspect
from explorer.model.causes import Attempt, Attempts, Tried

FEW = 4
"""How many changes are kept that give the other side's value, and how many that do not."""


def attempts_at(suspect: Suspect, tried: Tried) -> Attempts:
    """What was tried at an op; ``tried`` begins with its outputs where nothing is changed."""
    place = place_of(suspect, tried.outputs[0])
    room = room_of(suspect)
    is_repeated = place is not None and room is not None
    found = [] if place is None else sorted(_attempts(suspect, tried, place), key=_apart)
    count = len(suspect.trials) - 1
    return Attempts(
        side=suspect.side,
        node=suspect.node.id,
        op=suspect.node.op,
        tried=count,
        not_computed=count - len(found) if is_repeated else 0,
        fitting=tuple(it.change for it in found if it.apart <= (room or 0.0))[:FEW],
        nearest=tuple(it for it in found if it.apart > (room or 0.0))[:FEW],
        is_repeated=is_repeated,
    )


def _attempts(suspect: Suspect, tried: Tried, place: int) -> Iterator[Attempt]:
    """The changes with which the op has a value to compare."""
    for trial, outputs in zip(suspect.trials[1:], tried.outputs[1:], strict=True):
        apart = distance(outputs[place], suspect.target) if len(outputs) > place else None
        if apart is not None:
            yield Attempt(change_of(trial, suspect.node), apart)


def _apart(attempt: Attempt) -> float:
    return attempt.apart
