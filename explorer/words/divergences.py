"""Where two graphs have different values, in a sentence each."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from explorer.model.alignment import Alignment
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    GradientAdded,
    GradientStopped,
    Inputs,
    LoneLeaf,
    OtherOp,
    OtherRate,
    OtherStart,
    OtherValue,
    Place,
    Places,
    ResultElsewhere,
    ResultMissing,
    Rounded,
    Spread,
)
from explorer.model.graph import SideName
from explorer.text.language import _, named
from explorer.words.readings import contrast, listed, place, reading, row

FEW_NAMED = 2
"""So many inputs are named that one side alone reads."""

FEW_PLACES = 3
"""So many places are named where the same two ops correspond once more."""

Engines = tuple[str, str]
"""The engines of the two graphs, the left one first."""


def first_divergence(alignment: Alignment) -> str:
    """The first divergence of two graphs in a sentence; "" where there is none."""
    return next(divergences(alignment), "")


def divergences(alignment: Alignment) -> Iterator[str]:
    """Every divergence of two graphs in a sentence, the first one first."""
    engines = alignment.left, alignment.right
    for number, divergence in enumerate(alignment.divergences):
        yield sentence(divergence, engines, which="further" if number else "first")


Which = Literal["first", "further", "mended"]
"""The first divergence, one that it does not explain, or one that is seen as if others were mended."""


def sentence(divergence: Divergence, engines: Engines, *, which: Which = "first") -> str:
    """A divergence in a sentence. Places in it are between backticks."""
    names: dict[Which, str] = {
        "first": _("First divergence"),
        "further": _("Further divergence"),
        "mended": _("As if mended, further divergence"),
    }
    where = _("{which} in {phase}").format(which=names[which], phase=_(divergence.phase))
    return _("{where}: {what}").format(
        where=where, what=_SAY[type(divergence)](divergence, engines)
    )


def _other_value(divergence: OtherValue, engines: Engines) -> str:
    left, right = divergence.rows
    text = _("{left} and {right} take {inputs} give different values: {values}")
    if _are_two_formulas(divergence):
        text = _("{left} and {right} compute different values: {values}")
    text = text.format(
        left=row(left),
        right=row(right),
        inputs=_inputs(divergence.inputs, engines),
        values=_values(divergence),
    )
    is_row = any(ops.count > 1 for ops in divergence.rows)
    if divergence.equal_at:
        equal = _("{text}; the same two ops agree within their noise at {places}")
        if is_row:
            equal = _("{text}; the same ops agree within their noise at {places}")
        text = equal.format(text=text, places=_shown(divergence.equal_at))
    if divergence.also_at:
        also = _("{text}; the same two ops follow at {places}")
        if is_row:
            also = _("{text}; the same ops follow at {places}")
        text = also.format(text=text, places=_shown(divergence.also_at))
    return text


def _are_two_formulas(divergence: OtherValue) -> bool:
    """Whether two rows of ops begin with several inputs that the other does not have.

    These are inner values of two formulas, and say nothing of where the formulas differ.
    """
    left, right = divergence.inputs.alone
    is_plain = not (divergence.inputs.differing or divergence.inputs.spread)
    is_row = any(ops.count > 1 for ops in divergence.rows)
    return is_plain and is_row and bool(left and right) and len(left) + len(right) > 2


def _shown(places: tuple[Places, ...]) -> str:
    """Where two ops correspond: the modules and lines of the graph that tells more of them apart."""
    by_side: list[list[str]] = [[], []]
    for both in places:
        for names, node in zip(by_side, both, strict=True):
            names.append(", ".join(filter(None, (node.scope, node.source))))
    names = max(map(list, map(dict.fromkeys, by_side)), key=len)
    more = len(places) - min(len(names), FEW_PLACES)
    return _with_more([f"`{name}`" for name in names[:FEW_PLACES]], more)


def _inputs(inputs: Inputs, engines: Engines) -> str:
    """What two ops read, in words that lead on to what they give: "equal inputs but"."""
    if inputs.differing:
        names = listed(f"`{name}`" for name in inputs.differing)
        return _("equal inputs, apart from {names}, but").format(names=names)
    if inputs.spread:
        return _("equal inputs in other shapes, {inputs}, and").format(
            inputs=listed(map(_spread, inputs.spread))
        )
    left, right = inputs.alone
    if left and right:
        return _("different inputs, {left} against {right}, and").format(
            left=_named(left), right=_named(right)
        )
    beside = _beside(inputs, engines)
    if not inputs.are_observed:
        beside = beside.rstrip(",，") + _(", as far as their values are known,")
    if inputs.rearranged:
        texts = {
            "transposed": _("the same numbers, transposed ({left} against {right}){beside} and"),
            "reordered": _(
                "the same numbers in another order ({left} against {right}){beside} and"
            ),
        }
        here, there = map(place, inputs.rearranged.inputs)
        text = texts[inputs.rearranged.layout]
        return text.format(left=here, right=there, beside=beside)
    order = _(", given in another order,") if inputs.are_swapped else ""
    return _("equal inputs{beside}{order} but").format(beside=beside, order=order)


def _spread(spread: Spread) -> str:
    left, right = map(list, spread.shapes)
    return _("`{name}` as {left} against {right}").format(name=spread.name, left=left, right=right)


def _beside(inputs: Inputs, engines: Engines) -> str:
    """What one side alone reads: the other may have it as a setting, or not at all."""
    left, right = inputs.alone
    if not (left or right):
        return ""
    engine = engines[0] if left else engines[1]
    if len(inputs.constants) == 1:
        shown = reading(inputs.constants[0])
        return _(" (besides {value}, a constant of {engine} alone)").format(
            value=shown, engine=engine
        )
    if inputs.constants:
        shown = listed(map(reading, inputs.constants))
        return _(" (besides {values}, constants of {engine} alone)").format(
            values=shown, engine=engine
        )
    return _(", apart from {inputs} of {engine} alone,").format(
        inputs=_named(left or right), engine=engine
    )


def _named(places: tuple[Place, ...]) -> str:
    return _with_more(list(map(place, places[:FEW_NAMED])), len(places) - FEW_NAMED)


def _with_more(names: list[str], more: int) -> str:
    """The first of some names: "a and b", "a, b and 3 more"."""
    if more <= 0:
        return listed(names)
    return _("{names} and {n} more").format(names=named(names), n=more)


def _other_start(divergence: OtherStart, _engines: Engines) -> str:
    text = _("the nets start from different values of `{name}`: {values}")
    return text.format(name=divergence.name, values=_values(divergence))


def _lone_leaf(divergence: LoneLeaf, engines: Engines) -> str:
    texts = {
        "parameter": _("only {engine} has the parameter `{name}`"),
        "input": _("only {engine} has the input `{name}`"),
    }
    own, other = _from(divergence.side, engines)
    if divergence.is_unread and divergence.user is not None:
        text = _("{user} of {engine} reads the parameter `{name}`, which nothing in {other} reads")
        return text.format(
            user=place(divergence.user), engine=own, name=divergence.name, other=other
        )
    text = texts[divergence.leaf].format(name=divergence.name, engine=own)
    if divergence.user is None:
        return text
    return _("{fact}; {user} uses it").format(fact=text, user=place(divergence.user))


def _extra_ops(divergence: ExtraOps, engines: Engines) -> str:
    own, other = _from(divergence.side, engines)
    ops = row(divergence.row)
    if divergence.is_between:
        return _("only {own} has {ops}; what comes before and after corresponds in {other}").format(
            own=own, ops=ops, other=other
        )
    if divergence.gradients:
        text = _("{own} adds {n} gradients{whose} in {ops}, {other} does not").format(
            own=own, n=divergence.gradients, whose=_whose(divergence), ops=ops, other=other
        )
    else:
        text = _("only {own} has {ops}").format(own=own, ops=ops)
    if divergence.goes_on:
        text = _("{fact}; {other} continues with {op}").format(
            fact=text, other=other, op=place(divergence.goes_on)
        )
    return text + _what_it_yields(divergence)


def _whose(divergence: ExtraOps) -> str:
    """What the gradients are of that are added, in brackets."""
    if divergence.uses:
        return _(" (of the uses at {lines})").format(lines=listed(divergence.uses))
    if divergence.made_at:
        return _(" (of the value made at {line})").format(line=divergence.made_at)
    return ""


def _what_it_yields(divergence: ExtraOps) -> str:
    """What ops give that one side alone has, beside their input where the other side goes on with it."""
    own, other = _from(divergence.side, divergence.ends)
    if other.value.what == "absent":
        return _(": {value}").format(value=reading(own.value))
    values = _values(divergence, divergence.side)
    if divergence.gradients:
        return _(": {value}").format(value=values)
    return _("; its output against its input: {values}").format(values=values)


def _gradient_stopped(divergence: GradientStopped, engines: Engines) -> str:
    own, other = _from(divergence.side, engines)
    here, there = _from(divergence.side, divergence.places)
    _end, passed_on = _from(divergence.side, divergence.ends)
    return _("{own} stops the gradient in {here}, {other} passes it on in {there}: {value}").format(
        here=place(here),
        own=own,
        other=other,
        there=place(there),
        value=reading(passed_on.value),
    )


def _gradient_added(divergence: GradientAdded, engines: Engines) -> str:
    own, other = _from(divergence.side, engines)
    texts = {
        "forward": _(
            "{own} adds the value of {term} in {total}, {other} leaves it out after {rest}: {values}"
        ),
        "backward": _(
            "{own} adds the gradient from {term} in {total}, {other} leaves it out after {rest}:"
            " {values}"
        ),
    }
    return texts[divergence.phase].format(
        total=place(divergence.total),
        own=own,
        term=place(divergence.term),
        other=other,
        rest=place(divergence.rest),
        values=_values(divergence, divergence.side),
    )


def _result_elsewhere(divergence: ResultElsewhere, engines: Engines) -> str:
    left, right = divergence.makers
    if divergence.do_correspond:
        text = _("{left} and {right} give different values of `{name}`: {values}")
        return text.format(
            left=place(left), right=place(right), name=divergence.name, values=_values(divergence)
        )
    return _(
        "`{name}` comes from {left} in {left_engine} and from {right} in {right_engine}, which do not"
        " correspond: {values}"
    ).format(
        name=divergence.name,
        left=place(left),
        left_engine=engines[0],
        right=place(right),
        right_engine=engines[1],
        values=_values(divergence),
    )


def _result_missing(divergence: ResultMissing, engines: Engines) -> str:
    own, other = _from(divergence.side, engines)
    text = _("only {own} returns the gradient `{name}`, {other} does not")
    return text.format(name=divergence.name, own=own, other=other)


def _other_op(divergence: OtherOp, _engines: Engines) -> str:
    left, right = divergence.places
    text = _("{left} and {right} are at the same place and are different kinds of ops")
    return text.format(left=place(left), right=place(right))


def _other_rate(divergence: OtherRate, _engines: Engines) -> str:
    left, right = divergence.places
    return _(
        "{left} and {right} drop elements at different rates: {rate} of them against {other_rate},"
        " and multiply the rest by {factor} against {other_factor}"
    ).format(
        left=place(left),
        right=place(right),
        rate=f"{divergence.rates[0]:.3g}",
        other_rate=f"{divergence.rates[1]:.3g}",
        factor=f"{divergence.factors[0]:.4g}",
        other_factor=f"{divergence.factors[1]:.4g}",
    )


def _rounded(divergence: Rounded, engines: Engines) -> str:
    own, other = _from(divergence.side, engines)
    here, there = _from(divergence.side, divergence.places)
    narrow, wide = divergence.dtypes
    return _(
        "{own} rounds a value to `{narrow}` in {here}, {other} goes on in `{wide}` with {there}: {values}"
    ).format(
        own=own,
        narrow=narrow,
        here=place(here),
        other=other,
        wide=wide,
        there=place(there),
        values=_values(divergence, divergence.side),
    )


def _values(divergence: Divergence, side: SideName = "left") -> str:
    """Both values, that of a side first, and by how much they differ."""
    left, right = divergence.ends
    return contrast((left.value, right.value), divergence.gap, is_reversed=side == "right")


def _from(side: SideName, both: tuple[Any, Any]) -> tuple[Any, Any]:
    """What belongs to a side, then what belongs to the other."""
    left, right = both
    return (left, right) if side == "left" else (right, left)


_SAY: dict[type[Divergence], Callable[[Any, Engines], str]] = {
    OtherValue: _other_value,
    OtherStart: _other_start,
    LoneLeaf: _lone_leaf,
    ExtraOps: _extra_ops,
    GradientStopped: _gradient_stopped,
    GradientAdded: _gradient_added,
    ResultElsewhere: _result_elsewhere,
    ResultMissing: _result_missing,
    OtherOp: _other_op,
    OtherRate: _other_rate,
    Rounded: _rounded,
}
"""What says each kind of divergence."""
