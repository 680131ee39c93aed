"""Every divergence of two graphs in a sentence, with what explains it: also those seen as if mended."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause
from explorer.model.divergence import Divergence
from explorer.words.divergences import divergences
from explorer.words.mended import behind


class Explained(NamedTuple):
    """A divergence, the sentence on it, its cause, and what was tried there.

    ``as_if_mended`` says that it is seen only once those before are mended.
    """

    divergence: Divergence
    sentence: str
    cause: Cause | None
    attempts: Attempts | None = None
    as_if_mended: bool = False


def every(alignment: Alignment) -> Iterator[Explained]:
    """The divergences of the two graphs, the first one first, then those that are seen as if mended."""
    sentences = divergences(alignment)
    for place, (one, text) in enumerate(zip(alignment.divergences, sentences, strict=True)):
        yield Explained(one, text, alignment.cause(place), alignment.tried_at(place))
    found = alignment.mended.behind if alignment.mended else ()
    for seen, text in zip(found, behind(alignment), strict=True):
        yield Explained(seen.divergence, text, seen.cause, as_if_mended=True)
