"""Causes, attempts and divergences seen as if mended, made by hand, for the faces that show them."""

from collections.abc import Callable
from functools import partial

import msgspec

from explorer.model.alignment import Alignment, Seen
from explorer.model.causes import Attempt, Attempts, Cause, Mend, ReplaceOperator, SetArguments
from explorer.model.divergence import OtherValue
from explorer.model.graph import Layer
from explorer.model.known import Reference
from explorer.model.mended import Mended, NotPutIn
from explorer.model.report import Report

EPS = (SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-2}),)
FARTHER = (SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-1}),)
OPERATOR = (ReplaceOperator(op="aten.relu.default"),)

MENDS = (
    Mend(side="left", call="nn.BatchNorm2d", arguments={"eps": 1e-2}),
    Mend(side="right", call="nn.BatchNorm2d", arguments={"eps": 1e-5}),
)
LAYERS = Layer("nn.BatchNorm2d", {"eps": 1e-5}), Layer("nn.BatchNorm2d", {"eps": 1e-2})

CAUSE = Cause(
    side="left",
    node="n2",
    op="aten.norm",
    edits=EPS,
    proven="computed_again",
    greatest=4e-7,
    noise=6e-7,
    layers=LAYERS,
    tried=61,
    mends=MENDS,
)
ATTEMPTS = Attempts(
    side="left",
    node="n2",
    op="aten.norm",
    tried=61,
    not_computed=3,
    nearest=(Attempt("aten.norm", FARTHER, 0.25), Attempt("aten.norm", OPERATOR, 0.5)),
)
WITH_CAUSE = msgspec.structs.replace(ATTEMPTS, fitting=(Attempt("aten.norm", EPS, 0.0),))


def explained(alignment: Alignment, *, has_cause: bool = True) -> Alignment:
    """An alignment whose first divergence has a cause, or was tried in vain."""
    first, *further = alignment.seen
    node = first.divergence.nodes[0]
    assert node
    cause = msgspec.structs.replace(CAUSE, node=node) if has_cause else None
    made = msgspec.structs.replace(WITH_CAUSE if has_cause else ATTEMPTS, node=node)
    first = msgspec.structs.replace(first, cause=cause, attempts=made)
    return msgspec.structs.replace(alignment, seen=(first, *further))


BEHIND = "n3"
"""The node at which both graphs differ once those before are mended, of line 6 of net.py."""


def as_if_mended(alignment: Alignment, *, has_cause: bool = True) -> Alignment:
    """The alignment with a divergence that is seen behind its first one; at another nothing is put in."""
    first = alignment.divergence
    assert isinstance(first, OtherValue)
    ends = [msgspec.structs.replace(end, node=BEHIND, source="net.py:6") for end in first.ends]
    divergence = msgspec.structs.replace(first, ends=tuple(ends), also_at=())
    cause = msgspec.structs.replace(CAUSE, node=BEHIND, edits=FARTHER) if has_cause else None
    mended = Mended(
        engine=alignment.left,
        runs=2,
        values=1,
        differing=("dx",),
        not_put_in=(NotPutIn(nodes=("n7", "n7"), sources=("net.py:9",), why="size"),),
    )
    seen = *alignment.seen, Seen(divergence, cause, run=1, values=1)
    return msgspec.structs.replace(alignment, seen=seen, mended=mended)


KNOWN = Reference("claim", "43"), Reference("surprise", "selu")
"""What is known of a divergence."""


def known(alignment: Alignment) -> Alignment:
    """An alignment of whose first divergence a claim and a surprise are known."""
    first, *further = alignment.seen
    first = msgspec.structs.replace(first, known=KNOWN)
    return msgspec.structs.replace(alignment, seen=(first, *further))


def in_report(change: Callable[..., Alignment], report: Report, **options: bool) -> Report:
    """A report whose one alignment is changed."""
    (alignment,) = report.alignments
    return msgspec.structs.replace(report, alignments=(change(alignment, **options),))


known_report = partial(in_report, known)
mended_report = partial(in_report, as_if_mended)
explained_report = partial(in_report, explained)
