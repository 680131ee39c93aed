"""Names in an address that there are not: what was asked for, what is near, and what is allowed."""

from collections.abc import Sequence

from explorer.text.choices import SHOWN, nearest
from explorer.text.language import _


def refusal(fact: str, given: str, allowed: Sequence[str]) -> str:
    """The fact, the nearest allowed name if one is near, and what is allowed."""
    near = nearest(given, allowed)
    shown = list(allowed)
    told = _("{fact}; allowed: {names}")
    if near:
        told = _("{fact}; did you mean {nearest}? allowed: {names}")
    rest = ""
    if len(allowed) > SHOWN:
        shown = (near or shown)[:SHOWN]
        rest = _(", … ({n} in all)").format(n=len(allowed))
    first = repr(near[0]) if near else ""
    return told.format(fact=fact, nearest=first, names=", ".join(shown) + rest)
