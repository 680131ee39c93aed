"""Every divergence of two graphs in a sentence, with what explains it: also those seen as if mended."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause
from explorer.model.divergence import Divergence
from explorer.model.known import Reference
from explorer.words.causes import sentence as cause_sentence
from explorer.words.divergences import Which, sentence
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
    engines = alignment.left, alignment.right
    for place, one in enumerate(alignment.seen):
        which: Which = "mended" if one.run else "further" if place else "first"
        text = sentence(one.divergence, engines, which=which)
        is_behind = one.run > 0
        yield Explained(one.divergence, text, one.cause, one.attempts, one.known, is_behind)


def behind(alignment: Alignment) -> Iterator[Explained]:
    """The divergences that are seen as if mended."""
    return (one for one in every(alignment) if one.as_if_mended)


def reasons(one: Explained, alignment: Alignment) -> Iterator[str]:
    """The cause of a divergence in a sentence, and what is known of it, as far as there is any."""
    if one.cause is not None:
        yield cause_sentence(one.cause, (alignment.left, alignment.right))
    if one.known:
        yield known_line(one.known)
