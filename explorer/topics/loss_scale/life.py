"""The life of a dynamic scaler: one step of it as figures, and what happened over all of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from explorer.topics.loss_scale.inputs import FACTOR, WINDOW


def turn(before: float, after: float, finite: bool, stepped: bool) -> dict[str, Any]:
    """The figures of one step of a scaler's life.

    Its scale before and after, whether the gradients were finite, and whether weights moved.
    """
    return {"scale": before, "after": after, "finite": finite, "stepped": stepped}


class Counts(NamedTuple):
    """What happened in a scaler's life, counted over all its steps.

    ``overflows``, of these the ``skipped`` and those that ``shrunk`` the scale; how often it has
    ``grown``, of these ``on_time``, that is after a whole window of finite steps; and how many
    finite steps ``stepped``.
    """

    overflows: int
    skipped: int
    shrunk: int
    grown: int
    on_time: int
    stepped: int


def counts(turns: Sequence[Mapping[str, Any]]) -> Counts:
    """What happened over the steps of a scaler."""
    happened = dict.fromkeys(Counts._fields, 0)
    finite_in_a_row = 0
    for step in turns:
        if step["finite"]:
            finite_in_a_row += 1
            happened["stepped"] += step["stepped"]
        else:
            finite_in_a_row = 0
            happened["overflows"] += 1
            happened["skipped"] += not step["stepped"]
            # Scales are powers of two, so this holds to the last bit.
            happened["shrunk"] += step["after"] == step["scale"] / FACTOR
        if step["after"] > step["scale"]:
            happened["grown"] += 1
            happened["on_time"] += finite_in_a_row >= WINDOW
    return Counts(**happened)


def same_scales(lives: Iterable[Sequence[Mapping[str, Any]]]) -> int:
    """At how many steps all scalers have the same scale."""
    same = 0
    for turns in zip(*lives, strict=True):
        scales = {turn["scale"] for turn in turns}
        same += len(scales) == 1
    return same
