"""Every divergence of two graphs in a sentence, with what explains it: also those seen as if mended."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause
from explorer.model.divergence import Divergence
from explorer.model.known import Reference
from explorer.words.divergences import divergences
from explorer.words.mended import behind


class Explained(NamedTuple):
    """A divergence, the sentence on it, its cause, and what was tried there.

    ``known`` are the claims and surprises that are about it. ``as_if_mended`` says that it is seen only
    once those before are mended.
    """

    divergence: Divergence
    sentence: str
    cause: Cause | None
    attempts: Attempts | None = None
    known: tuple[Reference, ...] = ()
    as_if_mended: bool = False


def every(alignment: Alignment) -> Iterator[Explained]:
    """The divergences of the two graphs, the first one first, then those that are seen as if mended."""
    sentences = divergences(alignment)
    for place, (one, text) in enumerate(zip(alignment.divergences, sentences, strict=True)):
        tried, known = alignment.tried_at(place), alignment.known_at(place)
        yield Explained(one, text, alignment.cause(place), tried, known)
    found = alignment.mended.behind if alignment.mended else ()
    for seen, text in zip(found, behind(alignment), strict=True):
        yield Explained(seen.divergence, text, seen.cause, known=seen.known, as_if_mended=True)
