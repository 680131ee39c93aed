"""Why a node has no partner, in words."""

from collections.abc import Callable
from typing import Any

from explorer.model.unpaired import (
    Contradicted,
    Fact,
    FurtherOutput,
    NoResult,
    OtherNamedValue,
    OutputOf,
    PassedOn,
    Plain,
    Reason,
    Recorded,
    Repeated,
    Steps,
    Unpaired,
    Why,
)
from explorer.text.language import _, later
from explorer.words.divergences import Engines
from explorer.words.graphs import why_missing
from explorer.words.readings import contrast, place

REASONS: dict[Reason, str] = {
    "decomposed": later("Decomposed"),
    "fused": later("Fused"),
    "bookkeeping": later("Bookkeeping"),
    "unobserved": later("Unobserved"),
    "refuted": later("Refuted"),
    "difference": later("Difference"),
    "consequence": later("Consequence"),
    "random": later("Random"),
}
"""The names of the reasons."""


def detail(unpaired: Unpaired, engines: Engines) -> str:
    """Why a node has no partner; ``engines`` are those of the left and the right graph."""
    left, right = engines
    other = right if unpaired.side == "left" else left
    return _SAY[type(unpaired.why)](unpaired.why, other)


def _plain(why: Plain, other: str) -> str:
    texts: dict[Fact, str] = {
        "disproved": _("running its op again on the recorded inputs gives another value"),
        "first_difference": _("a divergence: the two graphs differ here"),
        "computed_from_difference": _("computed from values that differ"),
        "random": _("depends on random numbers, which each framework draws itself"),
        "constant": _("a constant that is not a node in {other}"),
        "unlisted": _("{other} does not have it, and no result differs because of that"),
        "in_pieces": _("{other} holds this parameter in other pieces"),
        "unobserved": _("its value was not recorded"),
        "fills_in": _("only broadcasts, groups or fills in values"),
        "unused": _("no result depends on it"),
    }
    return texts[why.fact].format(other=other)


def _recorded(why: Recorded, _other: str) -> str:
    return why_missing(why.absence)


def _contradicted(why: Contradicted, other: str) -> str:
    return _(
        "{place} in {other} takes equal inputs and gives another value, though what follows is"
        " equal: {values}"
    ).format(place=place(why.place), other=other, values=contrast(why.values, why.gap))


def _further_output(why: FurtherOutput, other: str) -> str:
    if why.values is None:
        return _(
            "one of its further outputs is that of {place} in {other}, which has no node for its main"
            " value"
        ).format(place=place(why.place), other=other)
    return _("only its further outputs equal those of {place} in {other}: {values}").format(
        place=place(why.place), other=other, values=contrast(why.values, why.gap)
    )


def _no_result(why: NoResult, other: str) -> str:
    return _("{other} has no result `{name}`").format(other=other, name=why.name)


def _other_named_value(why: OtherNamedValue, other: str) -> str:
    if why.is_buffer:
        text = _("`{name}` has other values in {other}, perhaps those before or after an update")
    else:
        text = _("`{name}` has another value in {other}")
    return text.format(name=why.name, other=other)


def _passed_on(why: PassedOn, _other: str) -> str:
    return _("the numbers of {op}, in another shape or dtype").format(op=why.op)


def _output_of(why: OutputOf, other: str) -> str:
    return _("output {n} of `{op}` in {other}").format(n=why.output, op=why.op, other=other)


def _repeated(why: Repeated, other: str) -> str:
    text = _("the value of {place} in {other}, which is computed once there and is paired already")
    return text.format(place=place(why.place), other=other)


def _steps(why: Steps, other: str) -> str:
    goal = _goal(why)
    if why.own < why.others:
        text = _("on the way to {goal} {other} has {n} ops where this graph has {own}")
        return text.format(other=other, n=why.others, own=why.own, goal=goal)
    texts = {
        0: _("a step on the way to {goal}, for which {other} has no ops of its own"),
        1: _("a step on the way to {goal}, for which {other} has 1 op of its own"),
    }
    several = _("a step on the way to {goal}, for which {other} has {n} ops of its own")
    return texts.get(why.others, several).format(goal=goal, other=other, n=why.others)


def _goal(why: Steps) -> str:
    if why.name:
        return _("the result `{name}`").format(name=why.name)
    return f"`{why.op}`" if why.op else _("what follows")


_SAY: dict[type[Why], Callable[[Any, str], str]] = {
    Plain: _plain,
    Recorded: _recorded,
    Contradicted: _contradicted,
    FurtherOutput: _further_output,
    NoResult: _no_result,
    OtherNamedValue: _other_named_value,
    PassedOn: _passed_on,
    OutputOf: _output_of,
    Repeated: _repeated,
    Steps: _steps,
}
"""What says each kind of reason."""
