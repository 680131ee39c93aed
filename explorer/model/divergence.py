"""The facts of a divergence: of which kind it is, and what each of the two graphs has there."""

from typing import Literal, TypeVar

import msgspec

from explorer.model.graph import OTHER, Phase, SideName

Layout = Literal["transposed", "reordered"]
"""How the same numbers lie in another value of their shape."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A node as a reader finds it.

    ``label`` is the name of a leaf, and otherwise the op; ``scope`` is the module and ``source``
    the user's line. ``caller`` is the line that calls the one in ``source``, where several do.
    What is not known is "".
    """

    label: str
    scope: str = ""
    source: str = ""
    caller: str = ""


Places = tuple[Place, Place]
"""A node of each graph, that of the left one first."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` ops in a row, each reading the one before: the first, and the op of the last.

    ``end`` is the id of the last one's node, "" where that is not known.
    """

    first: Place
    last: str
    count: int
    end: str = ""


class Reading(msgspec.Struct, frozen=True):
    """What is read of a value that should have been equal to another.

    "elements" are all of them, in C order of ``shape`` (a complex element is two: real, imaginary);
    "element" is the one where the two differ most, and "mean" is that of a larger value of
    ``shape``. "shape" is that alone, where the two sizes differ; "factor" is what a dropout
    multiplies by. The others have no number: the value was not observed, the other graph has none
    ("absent"), an op stops the gradient, or the elements that are finite are not as many.
    """

    what: Literal[
        "elements",
        "element",
        "mean",
        "shape",
        "factor",
        "unobserved",
        "absent",
        "stopped",
        "finite",
        "nothing_finite",
    ]
    shape: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()


ABSENT = Reading("absent")

Readings = tuple[Reading, Reading]
"""Two values that should have been equal, the left one first."""


class Likeness(msgspec.Struct, frozen=True):
    """What two different values have in common: the same numbers elsewhere, the sign, a factor.

    "times" says that every element of the left one is ``factor`` times that of the right one.
    """

    what: Literal["transposed", "reordered", "opposite", "times"]
    factor: float = 1.0


class Gap(msgspec.Struct, frozen=True):
    """By how much two values differ.

    ``greatest`` is the difference of the element that differs most, None where nothing can be
    subtracted; it ``is_least`` where figures alone are known of the values, and elements may differ by
    more. It is ``ratio`` times the ``noise``, the level of both sides together in the units
    of the values; both are None where the noise was not measured, ``ratio`` also where it is no
    finite number.
    """

    greatest: float | None = None
    noise: float | None = None
    ratio: float | None = None
    likeness: Likeness | None = None
    is_least: bool = False


class End(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a divergence: a node's id and the user's line, and what is read of its value.

    ``node`` is None where a side has no counterpart; its ``source`` is "" then.
    """

    node: str | None
    source: str
    value: Reading


class Rearranged(msgspec.Struct, frozen=True):
    """An input of two ops whose numbers lie in another order on the other side."""

    inputs: tuple[Place, Place]
    layout: Layout


class Spread(msgspec.Struct, frozen=True):
    """An input of two ops, with the shape in which each reads it."""

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """What two ops read that give different values: equal inputs, but for what is said here.

    ``differing`` are names of leaves that differ. ``alone`` are inputs that one graph's op alone
    reads, the left one's first; ``constants`` are their values where all of these are constants.
    Not all ``are_observed``: then inputs are equal as far as is known. ``are_swapped`` where equal
    inputs are given as other arguments, and ``rearranged`` is one whose numbers lie in another
    order.
    """

    differing: tuple[str, ...] = ()
    alone: tuple[tuple[Place, ...], tuple[Place, ...]] = ((), ())
    constants: tuple[Reading, ...] = ()
    are_observed: bool = True
    are_swapped: bool = False
    rearranged: Rearranged | None = None
    spread: tuple[Spread, ...] = ()


class _Divergence(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every divergence has: the phase, both ends, the left one first, and how far they differ."""

    phase: Phase
    ends: tuple[End, End]
    gap: Gap = Gap()

    @property
    def nodes(self) -> tuple[str | None, str | None]:
        """The node of each side, None where it has no counterpart."""
        left, right = self.ends
        return left.node, right.node


class OtherValue(_Divergence, frozen=True, kw_only=True, tag="other_value"):
    """Two ops, or two rows of ops, in one place: what they read is equal, and what they give is not.

    The same ops correspond elsewhere too: ``equal_at`` places where they agree within their
    noise, and, ``also_at``, behind this divergence, where values cannot tell.
    """

    rows: tuple[Row, Row]
    inputs: Inputs
    equal_at: tuple[Places, ...] = ()
    also_at: tuple[Places, ...] = ()


class OtherStart(_Divergence, frozen=True, kw_only=True, tag="other_start"):
    """A leaf from whose values the two nets start differently."""

    name: str


class LoneLeaf(_Divergence, frozen=True, kw_only=True, tag="lone_leaf"):
    """A leaf that only one graph has: ``leaf`` is "input" or "parameter", ``user`` what reads it.

    The other graph may have it, and not read it (``is_unread``).
    """

    side: SideName
    leaf: str
    name: str
    user: Place | None
    is_unread: bool = False


class ExtraOps(_Divergence, frozen=True, kw_only=True, tag="extra_ops"):
    """Ops in a row that only one graph has.

    They add ``gradients`` of the uses at the lines ``uses``, or of a value made at ``made_at``; 0
    where they do something else. ``goes_on`` is what the other graph does instead. Their value is
    read beside that of their input, where the other graph uses it as it is. ``is_between`` where
    they stand between two ops that correspond behind another divergence.
    """

    side: SideName
    row: Row
    gradients: int = 0
    uses: tuple[str, ...] = ()
    made_at: str = ""
    goes_on: Place | None = None
    is_between: bool = False


class GradientStopped(_Divergence, frozen=True, kw_only=True, tag="gradient_stopped"):
    """An op of one graph, that of ``side``, stops a gradient which the other graph computes."""

    side: SideName
    places: tuple[Place, Place]


class GradientAdded(_Divergence, frozen=True, kw_only=True, tag="gradient_added"):
    """A sum of one graph adds ``term``, which the other leaves out after ``rest``.

    In backward these are gradients.
    """

    side: SideName
    total: Place
    term: Place
    rest: Place


class ResultElsewhere(_Divergence, frozen=True, kw_only=True, tag="result_elsewhere"):
    """A result that two ops make which are not the same quantity.

    Where they ``do_correspond``, it is a further output of theirs, such as a running statistic.
    """

    name: str
    makers: tuple[Place, Place]
    do_correspond: bool = False


class ResultMissing(_Divergence, frozen=True, kw_only=True, tag="result_missing"):
    """A gradient that only one graph has, where all that both name agrees."""

    side: SideName
    name: str


class OtherOp(_Divergence, frozen=True, kw_only=True, tag="other_op"):
    """Two ops of other kinds in one place behind another divergence."""

    places: tuple[Place, Place]


class OtherRate(_Divergence, frozen=True, kw_only=True, tag="other_rate"):
    """Two dropouts in one place that drop another share of the elements.

    ``rates`` are these shares; ``factors`` are what the elements that are kept are multiplied by.
    """

    places: tuple[Place, Place]
    rates: tuple[float, float]
    factors: tuple[float, float]


class Rounded(_Divergence, frozen=True, kw_only=True, tag="rounded"):
    """A side rounds a value to a narrower dtype and goes on in its own, which the other does not.

    Its noise hides the difference. ``dtypes`` are the narrower one and the value's own, and ``result`` is
    the node that goes on in the latter: its value is read beside that of its counterpart, which is the
    node of the other side.
    """

    side: SideName
    places: tuple[Place, Place]
    dtypes: tuple[str, str]
    result: str


Divergence = (
    OtherValue
    | OtherStart
    | LoneLeaf
    | ExtraOps
    | GradientStopped
    | GradientAdded
    | ResultElsewhere
    | ResultMissing
    | OtherOp
    | OtherRate
    | Rounded
)
"""A place where two graphs have different values though what comes before is equal."""


TWO_SIDED = "alone ends factors inputs layers makers mends nodes places rates rows shapes sources"
"""The fields that have something of each graph, that of the left one first."""

Record = TypeVar("Record", bound=msgspec.Struct)


def mirrored(record: Record) -> Record:
    """The same record of two graphs with its sides exchanged, and so in all that it holds.

    What says why a node has no partner is about that node, whichever its side.
    """
    changes: dict[str, object] = {}
    other_side: dict[str, str] = dict(OTHER.items())
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name in ("equal_at", "also_at"):
            value = tuple(places[::-1] for places in value)
        elif isinstance(value, tuple):
            held = tuple(mirrored(it) if isinstance(it, msgspec.Struct) else it for it in value)
            value = held[::-1] if name in TWO_SIDED.split() else held
        elif isinstance(value, msgspec.Struct) and name != "why":
            value = mirrored(value)
        elif name == "side":
            value = OTHER[value]
        # What is "left_coverage" of the one is "right_coverage" of the other.
        start = name.partition("_")[0]
        changes[name.replace(start, other_side.get(start, start), 1)] = value
    if isinstance(record, Likeness):
        changes["factor"] = 1 / record.factor
    return msgspec.structs.replace(record, **changes)
