"""Names that a person gives, checked against those that are allowed.

An error says what was given, what is allowed, and which allowed name is nearest.
"""

import difflib
from collections.abc import Iterable, Sequence

from explorer.model.errors import UsageError

SHOWN = 16
"""The greatest number of allowed names that an error lists.

If there are more, only the nearest are listed, or the first ones if none is near.
"""

LIKENESS = 0.5
"""The lowest ratio of difflib (0 to 1) at which a name counts as near.

difflib's own 0.6 finds nothing near a name of four letters, two of which are wrong.
"""


def choose(what: str, given: str, allowed: Iterable[str]) -> str:
    """``given`` itself when it is among ``allowed``.

    Raises UsageError otherwise, with a message that begins "unknown {what} …".
    """
    names = list(allowed)
    if given in names:
        return given
    raise UsageError(refusal(f"unknown {what} {given!r}", given, names))


def refusal(fact: str, given: str, allowed: Sequence[str]) -> str:
    """The fact, the nearest allowed name if one is near, and what is allowed, in one line."""
    near = nearest(given, allowed)
    hint = f"did you mean {near[0]!r}? " if near else ""
    shown = list(allowed)
    rest = ""
    if len(allowed) > SHOWN:
        shown = (near or shown)[:SHOWN]
        rest = f", … ({len(allowed)} in all)"
    return f"{fact}; {hint}allowed: {', '.join(shown) or 'none'}{rest}"


def nearest(given: str, allowed: Sequence[str]) -> list[str]:
    """The allowed names most like ``given``, best first; case does not count."""
    by_folded = {name.casefold(): name for name in allowed}
    matches = difflib.get_close_matches(given.casefold(), by_folded, n=SHOWN, cutoff=LIKENESS)
    return [by_folded[match] for match in matches]
