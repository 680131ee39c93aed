"""Why a node has no partner, in words."""

from typing import Any

from explorer.model.alignment import (
    Contradicted,
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

TEXTS: dict[tuple[type[Why], str], str] = {
    (Plain, "disproved"): later("running its op again on the recorded inputs gives another value"),
    (Plain, "first_difference"): later("a divergence: the two graphs differ here"),
    (Plain, "computed_from_difference"): later("computed from values that differ"),
    (Plain, "random"): later("depends on random numbers, which each framework draws itself"),
    (Plain, "constant"): later("a constant that is not a node in {other}"),
    (Plain, "unlisted"): later("{other} does not have it, and no result differs because of that"),
    (Plain, "in_pieces"): later("{other} holds this parameter in other pieces"),
    (Plain, "unobserved"): later("its value was not recorded"),
    (Plain, "fills_in"): later("only broadcasts, groups or fills in values"),
    (Plain, "unused"): later("no result depends on it"),
    (Contradicted, ""): later(
        "{place} in {other} takes equal inputs and gives another value, though what follows is"
        " equal: {values}"
    ),
    (FurtherOutput, ""): later(
        "only its further outputs equal those of {place} in {other}: {values}"
    ),
    (FurtherOutput, "no_values"): later(
        "one of its further outputs is that of {place} in {other}, which has no node for its main value"
    ),
    (NoResult, ""): later("{other} has no result `{name}`"),
    (OtherNamedValue, ""): later("`{name}` has another value in {other}"),
    (OtherNamedValue, "buffer"): later(
        "`{name}` has other values in {other}, perhaps those before or after an update"
    ),
    (PassedOn, ""): later("the numbers of {op}, in another shape or dtype"),
    (OutputOf, ""): later("output {n} of `{op}` in {other}"),
    (Repeated, ""): later(
        "the value of {place} in {other}, which is computed once there and is paired already"
    ),
    (Steps, ""): later("a step on the way to {goal}, for which {other} has {n} ops of its own"),
    (Steps, "fewer"): later("on the way to {goal} {other} has {n} ops where this graph has {own}"),
    (Steps, "0"): later("a step on the way to {goal}, for which {other} has no ops of its own"),
    (Steps, "1"): later("a step on the way to {goal}, for which {other} has 1 op of its own"),
}
"""What each kind of reason is, by which of its forms."""


def detail(unpaired: Unpaired, engines: Engines) -> str:
    """Why a node has no partner; ``engines`` are those of the left and the right graph."""
    why, (left, right), form = unpaired.why, engines, ""
    words: dict[str, Any] = {name: getattr(why, name) for name in why.__struct_fields__}
    words["other"] = right if unpaired.side == "left" else left
    words["n"] = words.get("output", words.get("others"))
    if "place" in words:
        words["place"] = place(words["place"])
    if isinstance(why, Recorded):
        return why_missing(why.absence)
    if isinstance(why, Plain):
        form = why.fact
    elif isinstance(why, (Contradicted, FurtherOutput)):
        form = "" if why.values else "no_values"
        words["values"] = why.values and contrast(why.values, why.gap)
    elif isinstance(why, OtherNamedValue):
        form = "buffer" if why.is_buffer else ""
    elif isinstance(why, Steps):
        words["goal"] = f"`{why.op}`" if why.op else _("what follows")
        if why.name:
            words["goal"] = _("the result `{name}`").format(name=why.name)
        if why.own < why.others:
            form = "fewer"
        elif why.others < 2:
            form = str(why.others)
    return _(TEXTS[type(why), form]).format_map(words)
