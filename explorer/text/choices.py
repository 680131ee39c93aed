"""Names that a person gives, checked against those that are allowed.

An error says what was given, what is allowed, and which allowed name is nearest.
"""

import difflib
from collections.abc import Iterable, Sequence

from explorer.model.errors import UsageError
from explorer.text.language import _, later, named

SHOWN = 16
"""The greatest number of allowed names that an error lists.

If there are more, the nearest are listed first.
"""

LIKENESS = 0.56
"""The lowest ratio of difflib (0 to 1) at which a name counts as near.

At it `tape` is near `torch-tape`, and `my_nett` is not near `unet`.
"""

EXAMPLES = 4
"""The number of allowed names that an error lists where it says how to see all."""


KINDS = (
    later("action"),
    later("alignment"),
    later("API"),
    later("block"),
    later("case"),
    later("declaration"),
    later("engine"),
    later("environment"),
    later("format"),
    later("group, scenario or study"),
    later("input"),
    later("selection of cases"),
    later("side"),
    later("study"),
    later("topic"),
    later("value of code"),
    later("verdict"),
    later("verdict on a case"),
    later("view"),
)
"""What is chosen in the explorer, as errors name it."""


def choose(what: str, given: str, allowed: Iterable[str]) -> str:
    """``given`` itself when it is among ``allowed``.

    Raises UsageError otherwise, with a message that begins "unknown {what} …"; ``what`` is one
    of KINDS, or in the reader's language already.
    """
    names = list(allowed)
    if given in names:
        return given
    fact = _("unknown {kind} {name}").format(kind=_(what), name=repr(given))
    raise UsageError(refusal(fact, given, names))


def refusal(fact: str, given: str, allowed: Sequence[str], see: str = "") -> str:
    """The fact, the nearest allowed name if one is near, and what is allowed, in one line.

    ``see`` says how to see all names where they are too many to list.
    """
    near = nearest(given, allowed)
    shown = named(allowed) or _("none")
    if len(allowed) > SHOWN:
        if near and see:
            text = _("{fact}; did you mean {near}? {see}")
            return text.format(fact=fact, near=repr(near[0]), see=see)
        names = [*near, *(name for name in allowed if name not in near)]
        text = _("{names}, … ({n} in all)")
        shown = text.format(names=named(names[:SHOWN]), n=len(allowed))
        if see:
            text = _("{names}, …; {see}")
            shown = text.format(names=named(names[:EXAMPLES]), see=see)
    text = _("{fact}; allowed: {allowed}")
    if near:
        text = _("{fact}; did you mean {near}? allowed: {allowed}")
        return text.format(fact=fact, near=repr(near[0]), allowed=shown)
    return text.format(fact=fact, allowed=shown)


def nearest(given: str, allowed: Sequence[str]) -> list[str]:
    """The allowed names most like ``given``, best first; case does not count."""
    by_folded = {name.casefold(): name for name in allowed}
    matches = difflib.get_close_matches(given.casefold(), by_folded, n=SHOWN, cutoff=LIKENESS)
    return [by_folded[match] for match in matches]
