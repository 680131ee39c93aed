"""Lists in a sentence: "a, b and c", in the reader's language."""

from collections.abc import Sequence

from explorer.text.language import _


def listed(words: Sequence[str], how: str = "") -> str:
    """ "a, b and c"; ``how`` is "or" for "a, b or c", "," for "a, b, c" and ";" for "a; b; c"."""
    if how == ",":
        return _beside_each_other(words)
    if how == ";":
        return _("; ").join(words)
    if len(words) < 2:
        return "".join(words)
    last = _("{names} or {last}") if how == "or" else _("{names} and {last}")
    return last.format(names=_beside_each_other(words[:-1]), last=words[-1])


def _beside_each_other(words: Sequence[str]) -> str:
    # Not _(", "), which parts clauses: Chinese has another mark between words.
    text = words[0]
    for word in words[1:]:
        text = _("{names}, {next}").format(names=text, next=word)
    return text
