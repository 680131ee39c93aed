"""The records that an alignment of two gradient graphs is made of."""

from typing import Literal

import msgspec

from explorer.model.causes import Attempts, Cause
from explorer.model.divergence import Divergence, Gap, Place, Readings
from explorer.model.graph import Absence, SideName
from explorer.model.known import Reference
from explorer.model.mended import Mended

How = Literal[
    "name",
    "value",
    "value+provenance",
    "value+order",
    "transposed",
    "reordered",
    "provenance",
    "across",
]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two nodes that hold the same quantity, each with the output slot that holds it.

    ``number`` counts from 1 in the left graph's execution order. A node with several outputs may be
    in a pair by each of them: these pairs share a number. ``left_within`` and ``right_within`` are
    steps that lead to the node of their side, and that the node of the other side takes inside
    itself: a product before its bias is added.

    ``how`` is the evidence beyond equal values: "name" of a leaf or a result; "value" that nothing
    else has; "value+provenance" and "value+order" among several candidates; "transposed" and
    "reordered" when the same numbers lie in another layout of one shape; "provenance" when a value
    was not observed or is rounding noise about zero; "across" when one engine computes it in the
    other phase, or as a constant.
    """

    left: str
    right: str
    left_output: int
    right_output: int
    number: int
    how: How
    left_within: tuple[str, ...] = ()
    right_within: tuple[str, ...] = ()

    def members(self, side: SideName) -> tuple[str, ...]:
        """The node of a side, and the steps that lead to it."""
        if side == "left":
            return (self.left, *self.left_within)
        return (self.right, *self.right_within)


# Why a node has no partner


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


# How much of the graphs is paired


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The op nodes of one phase of a graph, by how they stand to the other graph.

    ``paired`` hold the same quantity as a node of the other graph, ``inside`` are steps that an op
    of the other graph takes inside itself, ``unpaired`` are the rest. ``unproven`` counts those
    inside whose own value nothing confirms: their op was not computed again, or could not be.
    """

    paired: int = 0
    inside: int = 0
    unpaired: int = 0
    unproven: int = 0

    @property
    def total(self) -> int:
        """All op nodes of the phase."""
        return self.paired + self.inside + self.unpaired

    def __add__(self, other: "Count") -> "Count":
        """The count of both together."""
        fields = self.__struct_fields__
        return Count(**{name: getattr(self, name) + getattr(other, name) for name in fields})


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The op nodes of one graph, counted by phase."""

    forward: Count
    backward: Count

    @property
    def whole(self) -> Count:
        """Both phases together."""
        return self.forward + self.backward


class Seen(msgspec.Struct, frozen=True):
    """A divergence of two graphs, and what explains it.

    ``cause`` is None where nothing that was tried does, ``attempts`` where nothing was tried, and ``known``
    are the claims and surprises that are about it. One of the plain graphs has the ``run`` 0. Others are
    seen only once values are put in at those before: ``run`` is the number of the run that shows it, from
    1, and ``values`` counts the values that were put in there.
    """

    divergence: Divergence
    cause: Cause | None = None
    attempts: Attempts | None = None
    known: tuple[Reference, ...] = ()
    run: int = 0
    values: int = 0


Untried = Literal["", "trace", "values", "operator", "framework", "lost"]
"""Why ops were not computed again where one of the graphs is a trace's.

It was not asked for ("trace"), "values" that they read are not whole, the "operator" is none of those that
are computed from a file, the "framework" is not here, or its worker ended and all was "lost".
"""


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """Two engines' graphs of one case, side by side.

    ``left`` and ``right`` name the engines; ``differing`` names the results whose values differ.
    ``seen`` are the divergences: first those of the plain graphs, in execution order, of which the first
    explains all that is computed from it, and then those that are seen as if these were mended.
    ``expected`` says whether the scenario expects the two engines to differ where they do. ``drawn`` names
    the results that depend on a random draw on both sides: their values are not compared. ``altered`` names
    the engines whose recorded run gave other results than their plain call: no divergence is then named.
    ``missing`` names the engines that gave no graph: nothing is then compared but the results of the calls.
    ``mended`` is what the one engine shows with the other's values put in, None where nothing was computed
    again. ``untried`` says why ops were not computed again. ``unjudged`` names the results that are far
    apart, and whose rounding is as great as they are.
    """

    left: str
    right: str
    case: str
    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]
    differing: tuple[str, ...]
    left_coverage: Coverage
    right_coverage: Coverage
    seen: tuple[Seen, ...] = ()
    expected: bool = True
    drawn: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    mended: Mended | None = None
    untried: Untried = ""
    unjudged: tuple[str, ...] = ()

    @property
    def plain(self) -> tuple[Seen, ...]:
        """The divergences of the plain graphs, the first one first."""
        return tuple(one for one in self.seen if not one.run)

    @property
    def behind(self) -> tuple[Seen, ...]:
        """The divergences that are seen only as if those of the plain graphs were mended."""
        return tuple(one for one in self.seen if one.run)

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """All places where the plain graphs part, the first one first."""
        return tuple(one.divergence for one in self.plain)

    @property
    def divergence(self) -> Divergence | None:
        """The first place where the graphs part; None where they do not."""
        return next(iter(self.divergences), None)

    @property
    def unproven(self) -> int:
        """The number of steps inside a partner, of both sides, whose own value nothing confirms."""
        return self.left_coverage.whole.unproven + self.right_coverage.whole.unproven

    @property
    def contradictions(self) -> tuple[Unpaired, ...]:
        """The nodes whose value is known to be wrong, or other than their counterpart's.

        Where every result is the same there may still be such nodes: what they show is not what
        the engine went on with.
        """
        return tuple(node for node in self.unpaired if node.reason in CONTRADICTIONS)

    @property
    def is_same(self) -> bool:
        """Whether nothing at all tells the two graphs apart.

        No result differs, no node contradicts another, and every step that an op of the other side
        takes inside itself is proven.
        """
        doubts = self.contradictions or self.unproven or self.drawn or self.altered
        return not (self.divergence or self.differing or doubts or self.missing)

    def numbers(self, side: SideName) -> dict[str, int]:
        """The pair number of every paired node of a side, keyed by node id.

        The steps inside a partner have the number of its pair.
        """
        return {node: pair.number for pair in self.pairs for node in pair.members(side)}
