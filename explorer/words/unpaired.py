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
    Recorded,
    Steps,
    Unpaired,
    Why,
)
from explorer.text.language import _
from explorer.words.divergences import Engines
from explorer.words.readings import contrast, place


def detail(unpaired: Unpaired, engines: Engines) -> str:
    """Why a node has no partner; ``engines`` are those of the left and the right graph."""
    left, right = engines
    other = right if unpaired.side == "left" else left
    return _SAY[type(unpaired.why)](unpaired.why, other)


def _plain(why: Plain, other: str) -> str:
    texts: dict[Fact, str] = {
        "disproved": _("its op, computed again from its recorded inputs, yields another value"),
        "first_difference": _("here the two graphs part"),
        "computed_from_difference": _("computed from values that differ"),
        "random": _("depends on a random draw, which each framework makes by itself"),
        "constant": _("a constant that {other} does not hold as a node"),
        "unlisted": _("{other} does not list it, and no result differs for that"),
        "unobserved": _("its value was not observed"),
        "fills_in": _("it spreads, bundles or fills in numbers and computes none"),
        "unused": _("no result depends on it"),
    }
    return texts[why.fact].format(other=other)


def _recorded(why: Recorded, _other: str) -> str:
    return why.text


def _contradicted(why: Contradicted, other: str) -> str:
    return _(
        "{place} of {other} takes equal inputs and holds another value, though what follows is"
        " equal: {values}"
    ).format(place=place(why.place), other=other, values=contrast(why.values, why.gap))


def _further_output(why: FurtherOutput, other: str) -> str:
    if why.values is None:
        text = _("a further output is that of {place} of {other}; its main value is there no node")
        return text.format(place=place(why.place), other=other)
    return _("only further outputs are those of {place} of {other}: {values}").format(
        place=place(why.place), other=other, values=contrast(why.values, why.gap)
    )


def _no_result(why: NoResult, other: str) -> str:
    return _("{other} has no result `{name}`").format(other=other, name=why.name)


def _other_named_value(why: OtherNamedValue, other: str) -> str:
    if why.is_buffer:
        text = _("`{name}` holds other values in {other}, which may be before or after an update")
    else:
        text = _("`{name}` has another value in {other}")
    return text.format(name=why.name, other=other)


def _passed_on(why: PassedOn, _other: str) -> str:
    return _("the numbers of {op}, in another shape or dtype").format(op=why.op)


def _output_of(why: OutputOf, other: str) -> str:
    return _("output {n} of `{op}` in {other}").format(n=why.output, op=why.op, other=other)


def _steps(why: Steps, other: str) -> str:
    goal = _goal(why)
    if why.own < why.others:
        text = _("{other} takes {n} ops where this graph takes {own}, towards {goal}")
        return text.format(other=other, n=why.others, own=why.own, goal=goal)
    texts = {
        0: _("a step towards {goal}, which {other} reaches with no ops of its own between"),
        1: _("a step towards {goal}, which {other} reaches with 1 op of its own between"),
    }
    several = _("a step towards {goal}, which {other} reaches with {n} ops of its own between")
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
    Steps: _steps,
}
"""What says each kind of reason."""
