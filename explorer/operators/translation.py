"""Arguments of one framework's call as the other's, and how the defaults of a row differ."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from explorer.model.engines import NEEDED, Framework
from explorer.model.graph import Arguments
from explorer.operators.records import REQUIRED, Absent, Argument, Default, Row, Value
from explorer.operators.ways import (
    COMPANIONS,
    HUB,
    PADS_FIRST,
    WAYS,
    NoCounterpartError,
    Setting,
    Shape,
    Values,
)

OTHER: dict[Framework, Framework] = dict(zip(NEEDED, reversed(NEEDED), strict=True))
"""The other one of the two frameworks with which rows were checked."""

KERNEL = {"kernel_size": "kernel_size"}
"""What is taken for an argument without a default, on which the default of a stride depends."""


def translate(
    row: Row, source: Framework, given: Mapping[str, Value], shapes: tuple[Shape, ...] = ()
) -> Values:
    """What to give to the other framework's callable for what ``source``'s is given.

    Defaults are filled in. ``shapes`` are those of the operands in their order, which padding by
    mode and a swap of axes need. PADS_FIRST is the key of what PyTorch pads the first operand with
    beforehand, where no padding of its own does what ``pad_mode`` does. Raises NoCounterpartError for
    a value that the other side cannot express, and KeyError for an argument that is required and not given.
    """
    setting = _setting(row, source, given, shapes)
    results: Values = {}
    for argument in row.arguments:
        results.update(_translated(argument, source, setting))
    return results


def by_argument(
    row: Row, source: Framework, given: Mapping[str, Value]
) -> Iterator[tuple[Argument, Values | None]]:
    """What each argument of one side is on the other.

    None where that side cannot express it; arguments that need the shapes of operands are left out.
    """
    setting = _setting(row, source, given, ())
    for argument in row.arguments:
        try:
            values = _translated(argument, source, setting)
        except NoCounterpartError:
            yield argument, None
            continue
        except (KeyError, IndexError, TypeError, ValueError):
            values = {}  # it takes the shapes of the operands
        if PADS_FIRST not in values:
            yield argument, values


def turned(argument: Argument, source: Framework, target: Framework, setting: Setting) -> Values:
    """An argument that both frameworks have, one of which is PyTorch, by its way."""
    way = argument.way(source if target == HUB else target)
    turn = WAYS[way].to_torch if target == HUB else WAYS[way].from_torch
    here, there = argument.name(source), argument.name(target)
    made = turn(setting._replace(here=here, there=there, way=way))
    return made if isinstance(made, dict) else {there: made}


def _setting(
    row: Row, source: Framework, given: Mapping[str, Value], shapes: tuple[Shape, ...]
) -> Setting:
    """The arguments that are given, and the defaults of the others."""
    values: Values = {}
    for argument in row.arguments:
        name, default = argument.name(source), argument.default(source)
        if name in given:
            values[name] = given[name]
        elif name and not isinstance(default, Absent):
            values[name] = default
    return Setting(values, shapes)


def _translated(argument: Argument, source: Framework, setting: Setting) -> Values:
    target = OTHER[source]
    if argument.way() in COMPANIONS:
        return {}
    here, there = argument.name(source), argument.name(target)
    if here and there:
        return turned(argument, source, target, setting)
    if there:
        default = argument.default(source)
        return {} if isinstance(default, Absent) else {there: default}
    acts_as = argument.default(target)
    value = setting.arguments[here]
    if isinstance(acts_as, Absent) or value == acts_as:
        return {}
    raise NoCounterpartError(here, value)


# Arguments of graphs, which records hold


def translated(row: Row, source: Framework, given: Arguments, *, are_all: bool = True) -> Arguments:
    """Arguments as the other framework takes them, with its defaults where they ``are_all``.

    None where they cannot be translated.
    """
    known = {argument.name(source) for argument in row.arguments}
    if not are_all:
        named = tuple(argument for argument in row.arguments if argument.name(source) in given)
        row = msgspec.structs.replace(row, arguments=named)
    given = as_called(row, source, given)
    values = {name: value for name, value in given.items() if name in known}
    try:
        found = translate(row, source, values)
    except (NoCounterpartError, KeyError, IndexError):
        return {}
    if PADS_FIRST in found:
        return {}
    # Of the values of a row, those that a record of arguments can hold as well: no sequences of sequences.
    return {
        name: value  # type: ignore[misc]
        for name, value in found.items()
        if not isinstance(value, tuple) or not any(isinstance(item, tuple) for item in value)
    }


def as_called(row: Row, framework: Framework, given: Arguments) -> Arguments:
    """Arguments as one would write them: an operator has None where its function has a number by default."""
    written = dict(given)
    for argument in row.arguments:
        name, default = argument.name(framework), argument.default(framework)
        is_none = name in written and written[name] is None and None not in argument.values
        if is_none and isinstance(default, (int, float)):
            written[name] = default
    return written


# What differs by default


class Difference(NamedTuple):
    """An argument whose defaults differ, and what either framework has to be given for the other's.

    Such a value is None where only the sizes of the operands decide it, or where none exists.
    """

    argument: Argument
    needed: Mapping[Framework, Values | None]


def differences(row: Row) -> list[Difference]:
    """The arguments of a row whose defaults differ, computed from defaults and ways.

    None of operators: graphs have all of their arguments.
    """
    found: list[Difference] = []
    for argument in row.arguments if row.kind != "operator" else ():
        ours, theirs = argument.default("mindspore"), argument.default("torch")
        if argument.way() in COMPANIONS or Absent.UNKNOWN in (ours, theirs):
            continue
        if ours is Absent.REQUIRED and theirs is Absent.REQUIRED:
            continue
        here = _default_there(argument, row, "torch")
        there = _default_there(argument, row, "mindspore")
        # Whether both come to the same, both in PyTorch's terms.
        is_one = False
        if not (argument.name("mindspore") and argument.name("torch")):
            is_one = ours == theirs
        elif here is not None and there is not None:
            setting = Setting({**_defaults(row, "mindspore"), **here})
            is_one = turned(argument, "mindspore", "torch", setting) == there
        if not is_one or Absent.REQUIRED in (ours, theirs):
            found.append(Difference(argument, {"mindspore": here, "torch": there}))
    return found


def _default_there(argument: Argument, row: Row, source: Framework) -> Values | None:
    """The default of one side in the other's terms; None where sizes decide it."""
    if isinstance(argument.default(source), Absent) or not argument.name(OTHER[source]):
        return None
    try:
        return _translated(argument, source, Setting(_defaults(row, source)))
    except (NoCounterpartError, KeyError):
        return None


def _defaults(row: Row, framework: Framework) -> Values:
    """The defaults of one side by the names of the arguments."""
    return {**KERNEL, **_setting(row, framework, {}, ()).arguments}


def shown(value: Default) -> str:
    """A value as code; the name of another argument where it is the value of that."""
    if isinstance(value, Absent):
        return ""
    return value if value in KERNEL else repr(value)


def same_as(row: Row, framework: Framework) -> str:
    """The call of one side that does by default what the other side's does; empty if it needs none."""
    values: Values = {}
    for difference in differences(row):
        values.update(difference.needed[framework] or {})
    own = _defaults(row, framework)
    values = {name: value for name, value in values.items() if own.get(name, REQUIRED) != value}
    if not values:
        return ""
    written = [f"{name}={shown(value)}" for name, value in values.items()]
    required = [it for it in row.arguments if it.default(framework) is Absent.REQUIRED]
    is_given_more = any(it.name(framework) not in values for it in required)
    # A function takes its tensors first.
    if is_given_more or (row.operands and row.kind != "layer"):
        written.insert(0, "...")
    return f"{row.name(framework)}({', '.join(written)})"
