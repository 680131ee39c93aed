"""Arguments of operators, and settings of layers, as plain values."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from explorer.model.graph import Absence, Arguments, ArgumentValue, Setting

LONGEST = 16
"""The elements of the longest sequence that is recorded: a longer one is data, and no setting."""


PLAIN = frozenset({bool, int, float, str, type(None)})
"""The types that a record can hold as they are."""


class PlainArguments(NamedTuple):
    """The arguments of an operator, and why some of them are missing."""

    arguments: Arguments
    absence: Absence | None = None


NO_ARGUMENTS = PlainArguments({})
"""Those of a node that is no operator."""


class NoPlainValueError(Exception):
    """A value has no plain form: a tensor, a function, an object of a framework."""


def plain_arguments(named: Iterable[tuple[str, Any]]) -> PlainArguments:
    """The plain values among arguments with their names; those that have no plain form are left out."""
    arguments: Arguments = {}
    long = []
    for name, value in named:
        if isinstance(value, (list, tuple)) and len(value) > LONGEST:
            long.append(name)
            continue
        try:
            arguments[name] = plain(value)
        except NoPlainValueError:
            continue
    absence = Absence("long_argument", ", ".join(long)) if long else None
    return PlainArguments(arguments, absence)


def plain(value: Any) -> ArgumentValue:
    """A number, a text, None, or a sequence of them; raises NoPlainValueError for anything else.

    A complex number becomes its text.
    """
    if isinstance(value, (list, tuple)):
        return tuple(map(_item, value))
    return _setting(value)


def _item(value: Any) -> Setting | tuple[Setting, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(map(_setting, value))
    return _setting(value)


def _setting(value: Any) -> Setting:
    if type(value) in PLAIN:
        return value  # type: ignore[no-any-return]  # its type says it
    # Enumerations of a framework are subclasses of int and str, which a record cannot hold.
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, complex):
        return str(value)
    raise NoPlainValueError
