"""Lists in a sentence: "a, b and c", in the reader's language."""

from collections.abc import Sequence

from explorer.text.language import _, named


def listed(words: Sequence[str], how: str = "") -> str:
    """ "a, b and c"; ``how`` is "or" for "a, b or c", "," for "a, b, c" and ";" for "a; b; c"."""
    if how == ",":
        return named(words)
    if how == ";":
        return _("; ").join(words)
    if len(words) < 2:
        return "".join(words)
    last = _("{names} or {last}") if how == "or" else _("{names} and {last}")
    return last.format(names=named(words[:-1]), last=words[-1])
