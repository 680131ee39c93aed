"""Names a person gives, checked against those there are: a refusal says what was given, what is
allowed, and what is nearest.
"""

import difflib
from collections.abc import Iterable, Sequence

from explorer.model.errors import UsageError

SHOWN = 12
"""A refusal lists at most this many allowed names; the nearest ones come first where there are
more.
"""


def choose(what: str, given: str, allowed: Iterable[str]) -> str:
    """``given`` itself when it is among ``allowed``; otherwise UsageError, in words that begin "no
    {what} is called …".
    """
    names = list(allowed)
    if given in names:
        return given
    raise UsageError(refusal(f"no {what} is called {given!r}", given, names))


def refusal(fact: str, given: str, allowed: Sequence[str]) -> str:
    """One sentence: the fact, the nearest allowed name if one is near, and what is allowed."""
    near = nearest(given, allowed)
    hint = f"did you mean {near[0]!r}? " if near else ""
    shown = allowed if len(allowed) <= SHOWN else (near or list(allowed))[:SHOWN]
    rest = f", … ({len(allowed)} in all)" if len(shown) < len(allowed) else ""
    return f"{fact}; {hint}allowed: {', '.join(shown)}{rest}"


def nearest(given: str, allowed: Sequence[str]) -> list[str]:
    """The allowed names most like ``given``, best first; case does not count."""
    folded = {name.casefold(): name for name in allowed}
    return [
        folded[name]
        for name in difflib.get_close_matches(given.casefold(), folded, n=SHOWN, cutoff=0.5)
    ]
