"""Where two graphs have different values, in a sentence each."""

from collections.abc import Iterator
from typing import Any, Literal

from explorer.model.alignment import Alignment, Seen
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
)
from explorer.model.graph import SideName
from explorer.model.mended import End, Mended, Obstacle
from explorer.text.language import _, later, named
from explorer.words.readings import contrast, listed, place, reading, row

FEW_NAMED = 2
"""So many inputs are named that one side alone reads."""

FEW_PLACES = 3
"""So many places are named where the same two ops correspond once more."""

Engines = tuple[str, str]
"""The engines of the two graphs, the left one first."""


Which = Literal["first", "further", "mended"]
"""The first divergence, one that it does not explain, or one that is seen as if others were mended."""


def every(alignment: Alignment) -> Iterator[tuple[Seen, str]]:
    """The divergences of two graphs, each in a sentence, those that are seen as if mended as the last."""
    for number, one in enumerate(alignment.seen):
        which: Which = "mended" if one.run else "further" if number else "first"
        yield one, sentence(one.divergence, (alignment.left, alignment.right), which=which)


def divergences(alignment: Alignment) -> Iterator[str]:
    """Every divergence of the plain graphs in a sentence, the first one first."""
    return (text for one, text in every(alignment) if not one.run)


def first_divergence(alignment: Alignment) -> str:
    """The first divergence of two graphs in a sentence; "" where there is none."""
    return next(divergences(alignment), "")


WHICH: dict[Which, str] = {
    "first": later("First divergence"),
    "further": later("Further divergence"),
    "mended": later("As if mended, further divergence"),
}

TEXTS: dict[tuple[type[Divergence], str], str] = {
    (OtherValue, ""): later("{left} and {right} take {inputs} give different values: {values}"),
    (OtherValue, "formulas"): later("{left} and {right} compute different values: {values}"),
    (OtherStart, ""): later("the nets start from different values of `{name}`: {values}"),
    (LoneLeaf, "parameter"): later("only {engine} has the parameter `{name}`"),
    (LoneLeaf, "input"): later("only {engine} has the input `{name}`"),
    (LoneLeaf, "unread"): later(
        "{user} of {engine} reads the parameter `{name}`, which nothing in {other} reads"
    ),
    (ExtraOps, ""): later("only {own} has {ops}"),
    (ExtraOps, "between"): later(
        "only {own} has {ops}; what comes before and after corresponds in {other}"
    ),
    (ExtraOps, "gradients"): later("{own} adds {n} gradients{whose} in {ops}, {other} does not"),
    (GradientStopped, ""): later(
        "{own} stops the gradient in {here}, {other} passes it on in {there}: {value}"
    ),
    (GradientAdded, "forward"): later(
        "{own} adds the value of {term} in {total}, {other} leaves it out after {rest}: {values}"
    ),
    (GradientAdded, "backward"): later(
        "{own} adds the gradient from {term} in {total}, {other} leaves it out after {rest}: {values}"
    ),
    (ResultElsewhere, ""): later(
        "`{name}` comes from {left} in {left_engine} and from {right} in {right_engine}, which do not"
        " correspond: {values}"
    ),
    (ResultElsewhere, "corresponding"): later(
        "{left} and {right} give different values of `{name}`: {values}"
    ),
    (ResultMissing, ""): later("only {own} returns the gradient `{name}`, {other} does not"),
    (OtherOp, ""): later("{left} and {right} are at the same place and are different kinds of ops"),
    (OtherRate, ""): later(
        "{left} and {right} drop elements at different rates: {rate} of them against {other_rate},"
        " and multiply the rest by {factor} against {other_factor}"
    ),
    (Rounded, ""): later(
        "{own} rounds a value to `{narrow}` in {here}, {other} goes on in `{wide}` with {there}: {values}"
    ),
}
"""What each kind of divergence is, by which of its forms."""

OTHER_PLACES = {
    ("equal_at", False): later("{text}; the same two ops agree within their noise at {places}"),
    ("equal_at", True): later("{text}; the same ops agree within their noise at {places}"),
    ("also_at", False): later("{text}; the same two ops follow at {places}"),
    ("also_at", True): later("{text}; the same ops follow at {places}"),
}
"""Where two ops, or two rows of ops, correspond once more."""


def sentence(divergence: Divergence, engines: Engines, *, which: Which = "first") -> str:
    """A divergence in a sentence. Places in it are between backticks."""
    where = _("{which} in {phase}").format(which=_(WHICH[which]), phase=_(divergence.phase))
    text = _(TEXTS[type(divergence), _form(divergence)])
    text = text.format_map(_words(divergence, engines))
    if isinstance(divergence, OtherValue):
        for field in ("equal_at", "also_at"):
            places: tuple[Places, ...] = getattr(divergence, field)
            if places:
                also = _(OTHER_PLACES[field, _is_row(divergence)])
                text = also.format(text=text, places=_shown(places))
    elif isinstance(divergence, LoneLeaf) and divergence.user and not divergence.is_unread:
        text = _("{fact}; {user} uses it").format(fact=text, user=place(divergence.user))
    elif isinstance(divergence, ExtraOps) and not divergence.is_between:
        text = _with_what_it_yields(text, divergence, engines)
    return _("{where}: {what}").format(where=where, what=text)


def _form(divergence: Divergence) -> str:
    """Which of the texts of its kind is that of a divergence."""
    if isinstance(divergence, OtherValue):
        # Rows that begin with several inputs which the other does not have are inner values of two
        # formulas, and say nothing of where the formulas differ.
        left, right = divergence.inputs.alone
        is_plain = not (divergence.inputs.differing or divergence.inputs.spread)
        are_many = bool(left and right) and len(left) + len(right) > 2
        return "formulas" if is_plain and are_many and _is_row(divergence) else ""
    if isinstance(divergence, LoneLeaf):
        return "unread" if divergence.is_unread and divergence.user else divergence.leaf
    if isinstance(divergence, ExtraOps):
        return "between" if divergence.is_between else "gradients" if divergence.gradients else ""
    if isinstance(divergence, GradientAdded):
        return divergence.phase
    is_further = isinstance(divergence, ResultElsewhere) and divergence.do_correspond
    return "corresponding" if is_further else ""


def _words(divergence: Divergence, engines: Engines) -> dict[str, object]:
    """What the texts say of a divergence, by its name in them."""
    side: SideName = getattr(divergence, "side", "left")
    own, other = _from(side, engines)
    words: dict[str, object] = {
        "own": own,
        "engine": own,
        "other": other,
        "left_engine": engines[0],
        "right_engine": engines[1],
        "name": getattr(divergence, "name", ""),
        "values": _values(divergence, side),
    }
    for name in ("total", "term", "rest", "user"):
        node = getattr(divergence, name, None)
        words[name] = node and place(node)
    both = getattr(divergence, "places", None) or getattr(divergence, "makers", None)
    if both:
        words["left"], words["right"] = map(place, both)
        words["here"], words["there"] = map(place, _from(side, both))
    if isinstance(divergence, OtherValue):
        words["left"], words["right"] = map(row, divergence.rows)
        words["inputs"] = _inputs(divergence.inputs, engines)
    elif isinstance(divergence, ExtraOps):
        words["ops"], words["n"], words["whose"] = row(divergence.row), divergence.gradients, ""
        if divergence.uses:
            lines = listed(divergence.uses)
            words["whose"] = _(" (of the uses at {lines})").format(lines=lines)
        elif divergence.made_at:
            line = divergence.made_at
            words["whose"] = _(" (of the value made at {line})").format(line=line)
    elif isinstance(divergence, GradientStopped):
        _end, passed_on = _from(side, divergence.ends)
        words["value"] = reading(passed_on.value)
    elif isinstance(divergence, OtherRate):
        words["rate"], words["other_rate"] = (f"{rate:.3g}" for rate in divergence.rates)
        words["factor"], words["other_factor"] = (f"{it:.4g}" for it in divergence.factors)
    elif isinstance(divergence, Rounded):
        words["narrow"], words["wide"] = divergence.dtypes
    return words


def _values(divergence: Divergence, side: SideName) -> str:
    """Both values, that of a side first, and by how much they differ."""
    left, right = divergence.ends
    return contrast((left.value, right.value), divergence.gap, is_reversed=side == "right")


def _from(side: SideName, both: tuple[Any, Any]) -> tuple[Any, Any]:
    """What belongs to a side, then what belongs to the other."""
    return both if side == "left" else both[::-1]


def _is_row(divergence: OtherValue) -> bool:
    return any(ops.count > 1 for ops in divergence.rows)


def _with_what_it_yields(text: str, divergence: ExtraOps, engines: Engines) -> str:
    """The text on ops of one side, with what the other does instead, and what they give.

    That is beside their input where the other side goes on with it.
    """
    (_own, engine), (own, other) = (_from(divergence.side, it) for it in (engines, divergence.ends))
    if divergence.goes_on:
        goes_on = _("{fact}; {other} continues with {op}")
        text = goes_on.format(fact=text, other=engine, op=place(divergence.goes_on))
    is_alone = other.value.what == "absent"
    values = reading(own.value) if is_alone else _values(divergence, divergence.side)
    if is_alone or divergence.gradients:
        return text + _(": {value}").format(value=values)
    return text + _("; its output against its input: {values}").format(values=values)


def _shown(places: tuple[Places, ...]) -> str:
    """Where two ops correspond: the modules and lines of the graph that tells more of them apart."""
    by_side = (
        dict.fromkeys(", ".join(filter(None, (it.scope, it.source))) for it in of_side)
        for of_side in zip(*places, strict=True)
    )
    names = [f"`{name}`" for name in max(by_side, key=len)][:FEW_PLACES]
    return _with_more(names, len(places) - len(names))


def _inputs(inputs: Inputs, engines: Engines) -> str:
    """What two ops read, in words that lead on to what they give: "equal inputs but"."""
    if inputs.differing:
        names = listed(f"`{name}`" for name in inputs.differing)
        return _("equal inputs, apart from {names}, but").format(names=names)
    if inputs.spread:
        text = _("`{name}` as {left} against {right}")
        both = ((it.name, *map(list, it.shapes)) for it in inputs.spread)
        shapes = [text.format(name=name, left=one, right=other) for name, one, other in both]
        return _("equal inputs in other shapes, {inputs}, and").format(inputs=listed(shapes))
    left, right = inputs.alone
    if left and right:
        text = _("different inputs, {left} against {right}, and")
        return text.format(left=_named(left), right=_named(right))
    beside = _beside(inputs, engines)
    if not inputs.are_observed:
        beside = beside.rstrip(",，") + _(", as far as their values are known,")
    if inputs.rearranged:
        text = _("the same numbers, transposed ({left} against {right}){beside} and")
        if inputs.rearranged.layout == "reordered":
            text = _("the same numbers in another order ({left} against {right}){beside} and")
        here, there = map(place, inputs.rearranged.inputs)
        return text.format(left=here, right=there, beside=beside)
    order = _(", given in another order,") if inputs.are_swapped else ""
    return _("equal inputs{beside}{order} but").format(beside=beside, order=order)


def _beside(inputs: Inputs, engines: Engines) -> str:
    """What one side alone reads: the other may have it as a setting, or not at all."""
    left, right = inputs.alone
    if not (left or right):
        return ""
    text = _(", apart from {inputs} of {engine} alone,")
    if inputs.constants:
        text = _(" (besides {values}, constants of {engine} alone)")
        if len(inputs.constants) == 1:
            text = _(" (besides {value}, a constant of {engine} alone)")
    shown = listed(map(reading, inputs.constants))
    named_alone, engine = _named(left or right), engines[0] if left else engines[1]
    return text.format(value=shown, values=shown, inputs=named_alone, engine=engine)


def _named(places: tuple[Place, ...]) -> str:
    return _with_more(list(map(place, places[:FEW_NAMED])), len(places) - FEW_NAMED)


def _with_more(names: list[str], more: int) -> str:
    """The first of some names: "a and b", "a, b and 3 more"."""
    if more <= 0:
        return listed(names)
    return _("{names} and {n} more").format(names=named(names), n=more)


# What is seen once the one engine goes on with the other's values

FEW_RESULTS = 8
"""So many results are named that differ even then."""

ENDED: dict[End, str] = {
    "lost": later("its worker was lost"),
    "raised": later("with these values the net raises"),
    "other_graph": later("with these values the net runs other ops"),
    "rounds": later("there may be more behind: it is not computed again more often"),
}
"""Why it did not go on."""

NOT_PUT_IN: dict[Obstacle, str] = {
    "size": later("nothing can be put in at {place}, where the values have other sizes"),
    "layout": later("nothing can be put in at {place}, where the axes are in another order"),
    "no_value": later("nothing can be put in at {place}, where not all elements are known"),
    "stopped": later("nothing can be put in at {place}, which stops the gradient"),
    "no_place": later("nothing can be put in at {place}, which has no counterpart"),
}
"""Why there is no value to go on with at a divergence."""


def summary_line(alignment: Alignment) -> str:
    """What was computed again and what came of it, as a sentence; "" where nothing was to be mended."""
    if alignment.mended is None:
        return ""
    text = going_on(alignment.mended, (alignment.left, alignment.right))
    return _("{text}.").format(text=text[0].upper() + text[1:])


def going_on(mended: Mended, engines: tuple[str, str]) -> str:
    """What two engines show once the one goes on with the other's values."""
    left, right = engines
    if mended.end == "no_engine":
        text = _(
            "not computed as if mended: neither {left} nor {right} can be computed again with other values"
        )
        return text.format(left=left, right=right)
    if not mended.runs:
        text = _("not computed as if mended")
    elif mended.differing:
        text = _(
            "as if mended: {engine} goes on with {values} of {other} where they differ, and still differs in"
            " {names}"
        )
    else:
        text = _(
            "as if mended: {engine} goes on with {values} of {other} where they differ, and gives the same"
            " results"
        )
    texts = [text]
    if mended.change_nothing:
        harmless = _(
            "what differs before anything is mended changes no result: with the values of {other} there"
            " alone, {engine} gives the results that it gave without"
        )
        texts.append(harmless)
    names = named(mended.differing[:FEW_RESULTS])
    if len(mended.differing) > FEW_RESULTS:
        names = _("{names}, … ({n} in all)").format(names=names, n=len(mended.differing))
    values = _("1 value") if mended.values == 1 else _("{n} values").format(n=mended.values)
    other = right if mended.engine == left else left
    said = [
        text.format(engine=mended.engine, other=other, values=values, names=names) for text in texts
    ]
    if mended.end in ENDED:
        said.append(_(ENDED[mended.end]))
    for one in mended.not_put_in:
        places = [f"`{source}`" for source in one.sources] or list(filter(None, one.nodes))
        said.append(_(NOT_PUT_IN[one.why]).format(place=listed(places)))
    return _("; ").join(said)
