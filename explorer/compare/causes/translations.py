"""Arguments of one framework as the other takes them, as far as a record can hold them."""

from collections.abc import Mapping

from explorer.correspondence.records import REQUIRED, UNKNOWN, Argument, Row
from explorer.correspondence.translation import translate
from explorer.correspondence.ways import NoCounterpartError
from explorer.model.engines import Framework
from explorer.model.graph import Arguments, ArgumentValue


def tied_names(row: Row, framework: Framework, tried: Arguments) -> list[str]:
    """The arguments of one side that stand for those of PyTorch's that were tried."""
    tied = [it for it in row.arguments if it.torch in tried and _is_free(it)]
    tied += [it for it in row.arguments if any(_goes_with(it, other) for other in tied)]
    return [argument.name(framework) for argument in tied if argument.name(framework)]


def _goes_with(argument: Argument, other: Argument) -> bool:
    """Whether an argument belongs to another one, as a number of elements to the mode of padding."""
    start, _, way = argument.way.partition("_")
    return start == "of" and other.way.endswith(way)


def _is_free(argument: Argument) -> bool:
    """Whether an argument was checked with several values: it may be that MindSpore takes no other."""
    checked = {*argument.values, argument.mindspore_default} - {REQUIRED, UNKNOWN}
    return len(checked) > 1


def translated(row: Row, source: Framework, given: Arguments) -> Mapping[str, ArgumentValue]:
    """Arguments as the other framework takes them; none where they cannot be translated."""
    known = {argument.name(source) for argument in row.arguments}
    given = as_called(row, source, given)
    values = {name: value for name, value in given.items() if name in known}
    try:
        found = translate(row, source, values)
    except (NoCounterpartError, KeyError, IndexError):
        return {}
    if found.pads_first:
        return {}
    # Of the values of a table, those that a record of arguments can hold as well.
    return {name: value for name, value in found.arguments.items() if _is_plain(value)}  # type: ignore[misc]


def as_called(row: Row, framework: Framework, given: Arguments) -> Arguments:
    """Arguments as one would write them: an operator has None where its function has a number by default."""
    written = dict(given)
    for argument in row.arguments:
        name, default = argument.name(framework), argument.default(framework)
        is_none = name in written and written[name] is None and None not in argument.values
        if is_none and isinstance(default, (int, float)):
            written[name] = default
    return written


def _is_plain(value: object) -> bool:
    """Whether a value is one number or text, or a sequence of such."""
    if isinstance(value, tuple):
        return not any(isinstance(item, tuple) for item in value)
    return True


def is_same(one: ArgumentValue, other: ArgumentValue) -> bool:
    """Whether two settings are one, where a number stands for as many as are needed."""
    first, second = shorter(one), shorter(other)
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= 1e-6 * max(abs(first), abs(second))
    return first == second


def shorter(value: ArgumentValue) -> ArgumentValue:
    """One number in the place of several that are the same."""
    if isinstance(value, tuple) and value and all(item == value[0] for item in value):
        return value[0]
    return value
