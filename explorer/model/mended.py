"""A net computed again as if its mistakes were mended: what is asked for, and what comes of it."""

from typing import Literal

import msgspec

from explorer.model.arrays import Array
from explorer.model.causes import Trial
from explorer.model.graph import GradGraph, Output
from explorer.model.requests import CaseRequest


class PutIn(msgspec.Struct, frozen=True):
    """The value that an output of a node gets instead of its own; None: zeros."""

    node: str
    output: int
    value: Array | None


class MendedRequest(msgspec.Struct, frozen=True):
    """A capture of a case in which some nodes have other values, and trials on that capture.

    Ids of nodes are those of the plain capture.
    """

    request: CaseRequest
    put_in: tuple[PutIn, ...]
    trials: tuple[Trial, ...] = ()


class MendedRun(msgspec.Struct, frozen=True):
    """The graph with the values put in, and the outputs of the trials as in ``Tried``.

    ``graph`` is None where the net raised.
    """

    graph: GradGraph | None
    tried: tuple[tuple[Output, ...], ...] = ()


class WholeRequest(msgspec.Struct, frozen=True):
    """A capture of a case of which some values are wanted whole, by the ids of nodes and their outputs."""

    request: CaseRequest
    wanted: tuple[tuple[str, int], ...]


class Whole(msgspec.Struct, frozen=True):
    """All elements of the values that were wanted, in their order; None of one that is not there."""

    values: tuple[Array | None, ...]


Obstacle = Literal["size", "layout", "no_value", "stopped", "no_place"]
"""Why no value of the other side could be put in at a divergence.

- "size": the two values have other sizes
- "layout": they have the same size, but other axes
- "no_value": the other side's value is not known whole
- "stopped": the side that is computed again stops the gradient: no op computes it there
- "no_place": no op of this side stands where the other side's value would belong
"""

End = Literal["", "no_engine", "lost", "raised", "other_graph", "rounds"]
"""Why the computation did not go on: "" where nothing was left to be put in.

- "no_engine": neither engine's computation can be run with other values
- "lost": its worker was lost; "raised": it raised
- "other_graph": it ran other ops than before
- "rounds": it was computed again as often as is allowed
"""


class NotPutIn(msgspec.Struct, frozen=True, kw_only=True):
    """A divergence at which no value was put in: its node and line on each side, and why.

    The left side comes first; a side without a node has no line either.
    """

    nodes: tuple[str | None, str | None]
    sources: tuple[str, ...]
    why: Obstacle


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """What two graphs show once the one engine goes on with the other's values.

    ``engine`` is computed again, ``runs`` times; in the last of them ``values`` values were put in.
    ``differing`` names the results that differ even then: none where with these values all else agrees.
    ``not_put_in`` are the divergences behind which nothing could be seen, and ``end`` says what ended it.
    Divergences of the plain computation that ``change_nothing`` are harmless: with the other side's values
    there alone all results are the same as without.
    """

    engine: str
    runs: int = 0
    values: int = 0
    differing: tuple[str, ...] = ()
    not_put_in: tuple[NotPutIn, ...] = ()
    end: End = ""
    change_nothing: bool = False
