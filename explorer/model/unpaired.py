"""Why a node of one graph has no partner in the other."""

from typing import Literal

import msgspec

from explorer.model.divergence import Gap, Place, Readings
from explorer.model.graph import Absence, SideName

Reason = Literal[
    "decomposed",
    "fused",
    "bookkeeping",
    "unobserved",
    "refuted",
    "difference",
    "consequence",
    "random",
]

CONTRADICTIONS: frozenset[Reason] = frozenset({"refuted", "difference"})
"""Reasons that say a node's value is wrong, or other than it should be."""

Fact = Literal[
    "disproved",
    "first_difference",
    "computed_from_difference",
    "random",
    "constant",
    "unlisted",
    "in_pieces",
    "unobserved",
    "fills_in",
    "unused",
]


class Plain(msgspec.Struct, frozen=True, tag_field="why", tag="plain"):
    """What needs no more than its name.

    "disproved": computing the op again from its recorded inputs gives another value;
    "first_difference": it takes part in a divergence; "computed_from_difference"; "random": it
    depends on a random draw; "constant" and "unlisted": the other graph has no such constant or
    leaf as a node; "in_pieces": the other graph holds the parameter in other pieces;
    "unobserved": its value is not known; "fills_in": it spreads, bundles or fills in numbers and
    computes none; "unused": no result depends on it.
    """

    fact: Fact


class Recorded(msgspec.Struct, frozen=True, tag_field="why", tag="recorded"):
    """The node's own record says it."""

    absence: Absence


class Contradicted(msgspec.Struct, frozen=True, tag_field="why", tag="contradicted"):
    """An op at ``place`` takes equal inputs and has another value, though what follows is equal.

    ``values`` are the node's own and that of the op.
    """

    place: Place
    values: Readings
    gap: Gap


class FurtherOutput(msgspec.Struct, frozen=True, tag_field="why", tag="further_output"):
    """Only a further output is one of the op at ``place``.

    ``values`` are the main values of both where these are of one kind, and differ then.
    """

    place: Place
    values: Readings | None = None
    gap: Gap = Gap()


class NoResult(msgspec.Struct, frozen=True, tag_field="why", tag="no_result"):
    """The other graph has no result of this name."""

    name: str


class OtherNamedValue(msgspec.Struct, frozen=True, tag_field="why", tag="other_named_value"):
    """What has this name has another value in the other graph.

    A buffer may have been read before or after an update.
    """

    name: str
    is_buffer: bool


class PassedOn(msgspec.Struct, frozen=True, tag_field="why", tag="passed_on"):
    """The numbers of an op, in another shape or dtype."""

    op: str


class OutputOf(msgspec.Struct, frozen=True, tag_field="why", tag="output_of"):
    """Output ``output`` of an op of the other graph."""

    op: str
    output: int


class Repeated(msgspec.Struct, frozen=True, tag_field="why", tag="repeated"):
    """The op at ``place`` of the other graph holds the same value, and pairs with another node."""

    place: Place


class Steps(msgspec.Struct, frozen=True, tag_field="why", tag="steps"):
    """One of ``own`` ops where the other graph has ``others``, which lead to one pair.

    The pair is the result ``name``, or the op ``op`` of the other graph; both are "" where they
    lead to none.
    """

    own: int
    others: int
    op: str = ""
    name: str = ""


Why = (
    Plain
    | Recorded
    | Contradicted
    | FurtherOutput
    | NoResult
    | OtherNamedValue
    | PassedOn
    | OutputOf
    | Repeated
    | Steps
)


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """A node without a partner for its main value, and why.

    "decomposed": a step of what the other engine does in fewer ops, though not verifiably inside
    one; "fused": an op that the other engine does in more; "bookkeeping": it makes no new numbers,
    or nothing depends on them; "unobserved": its value is not known; "refuted": its recorded value
    is not what its op yields; "difference": here the graphs differ first; "consequence": computed
    from such a difference; "random": it depends on a random draw on both sides.
    """

    side: SideName
    node: str
    reason: Reason
    why: Why
