"""Every divergence of two graphs in a sentence, with what explains it: also those seen as if mended."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause
from explorer.model.divergence import Divergence
from explorer.model.known import Reference
from explorer.words.causes import sentence as cause_sentence
from explorer.words.divergences import divergences, sentence
from explorer.words.known import known_line


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
    yield from behind(alignment)


def behind(alignment: Alignment) -> Iterator[Explained]:
    """The divergences that are seen as if mended."""
    engines = alignment.left, alignment.right
    for seen in alignment.mended.behind if alignment.mended else ():
        text = sentence(seen.divergence, engines, which="mended")
        yield Explained(seen.divergence, text, seen.cause, known=seen.known, as_if_mended=True)


def reasons(one: Explained, alignment: Alignment) -> Iterator[str]:
    """The cause of a divergence in a sentence, and what is known of it, as far as there is any."""
    if one.cause is not None:
        yield cause_sentence(one.cause, (alignment.left, alignment.right))
    if one.known:
        yield known_line(one.known)
