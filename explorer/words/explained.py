"""Every divergence of two graphs in a sentence, with what explains it: also those seen as if mended."""

from collections.abc import Iterator

from explorer.model.alignment import Alignment, Seen
from explorer.words.causes import sentence as cause_sentence
from explorer.words.divergences import Which, sentence
from explorer.words.known import known_line


def every(alignment: Alignment) -> Iterator[tuple[Seen, str]]:
    """The divergences of the two graphs, each in a sentence, those that are seen as if mended as the last."""
    for place, one in enumerate(alignment.seen):
        which: Which = "mended" if one.run else "further" if place else "first"
        yield one, sentence(one.divergence, (alignment.left, alignment.right), which=which)


def reasons(one: Seen, alignment: Alignment) -> Iterator[str]:
    """The cause of a divergence in a sentence, and what is known of it, as far as there is any."""
    if one.cause is not None:
        yield cause_sentence(one.cause, (alignment.left, alignment.right))
    if one.known:
        yield known_line(one.known)
