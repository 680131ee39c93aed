"""Which arguments of two ops, or settings of two layers, differ once they are translated."""

from typing import NamedTuple

from explorer.model.engines import NEEDED, Framework
from explorer.model.graph import Arguments, ArgumentValue, Layer
from explorer.operators.records import Row, Value
from explorer.operators.table import last_name, layer_of, row_between
from explorer.operators.translation import by_argument
from explorer.operators.values import are_near, other_values, unified
from explorer.operators.ways import COMPANIONS

AXES = frozenset({"axis", "dim", "dims", "dim0", "dim1", "start_dim", "end_dim"})
"""Arguments that are an axis, which both -1 and the number of the last one may mean."""


class Call(NamedTuple):
    """An op or a layer of a framework, and what it was given; ``rank`` is that of its value."""

    framework: Framework
    name: str
    arguments: Arguments
    rank: int = 0
    is_layer: bool = False


Names = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of arguments of the left call and of the right one."""


def differing(left: Call, right: Call) -> Names:
    """The arguments of two calls that differ: by the table where it has the two, else by their names."""
    by_name, row = other_values(left.arguments, right.arguments), _row_of(left, right)
    if row is None:
        return by_name, by_name
    known = {argument.name(framework) for argument in row.arguments for framework in NEEDED}
    # What the table does not translate has one meaning under one name, as far as is known.
    rest = tuple(name for name in by_name if name not in known)
    ours, theirs = _by_row(row, left, right)
    return (*ours, *rest), (*theirs, *rest)


def other_settings(left: Call, right: Call) -> tuple[Arguments, Arguments]:
    """The settings of two layers that the table knows to differ; none where it does not have the two."""
    row = _row_of(left, right)
    if row is None:
        return {}, {}
    names = _by_row(row, left, right)
    return (
        {name: left.arguments[name] for name in names[0]},
        {name: right.arguments[name] for name in names[1]},
    )


def of_layer(framework: Framework, layer: Layer, rank: int = 0) -> Call:
    """A layer as a call."""
    return Call(framework, layer.name, layer.settings, rank, is_layer=True)


def _row_of(left: Call, right: Call) -> Row | None:
    names = {call.framework: call.name for call in (left, right)}
    if not left.is_layer:
        return row_between(names["mindspore"], names["torch"]) if {*NEEDED} == {*names} else None
    row = layer_of(left.framework, left.name) if len(names) == 2 else None
    is_other = row is not None and last_name(row.name(right.framework)) == last_name(right.name)
    return row if is_other else None


def _by_row(row: Row, left: Call, right: Call) -> Names:
    # One direction for both orders: what PyTorch pads has several names in MindSpore.
    if left.framework == "torch":
        theirs, ours = _by_row(row, right, left)
        return ours, theirs
    here: dict[str, None] = {}
    there: dict[str, None] = {}
    rank = max(left.rank, right.rank)
    for argument, values in by_argument(row, left.framework, dict(left.arguments)):
        name = argument.name(left.framework)
        if name and name not in left.arguments:
            continue  # a graph may leave out what another argument says
        others = [argument.name(right.framework)]
        if values is not None:
            given = [it for it in values if it in right.arguments]
            others = [it for it in given if not _is_same(it, values[it], right, rank)]
        if others:
            # What it is called, and the others of its side that have a part in its meaning.
            way = f"of_{argument.way()}"
            tied = [it for it in row.arguments if it.way() == way and way in COMPANIONS]
            here |= dict.fromkeys(it.name(left.framework) for it in (argument, *tied))
            there |= dict.fromkeys(others)
    return (
        tuple(name for name in here if name in left.arguments),
        tuple(name for name in there if name in right.arguments),
    )


def _is_same(name: str, translated: Value, call: Call, rank: int) -> bool:
    """Whether a translated value is the call's own."""
    own = call.arguments[name]
    if isinstance(translated, str) and not isinstance(own, str) and name == "padding":
        return _is_padded_so(translated, own, call.arguments)
    one, other = unified(name, translated), unified(name, own)  # type: ignore[arg-type]  # nested as deep
    if name in AXES and isinstance(one, int) and isinstance(other, int) and rank:
        # The value of a reduction has an axis less than what it reads.
        return any(one % axes == other % axes for axes in (rank, rank + 1))
    return are_near(one, other)


def _is_padded_so(mode: str, padding: ArgumentValue, arguments: Arguments) -> bool:
    """Whether windows that move by one are padded by so much as a mode pads them.

    True where the size of the windows is not known.
    """
    if mode == "valid":
        return unified("padding", padding) == 0
    given = (arguments.get("kernel_size"), arguments.get("dilation", 1), padding)
    values = [value if isinstance(value, tuple) else (value,) for value in given]
    numbers = [[number for number in value if isinstance(number, int)] for value in values]
    count = max(map(len, numbers))
    # One number stands for all axes.
    axes = zip(*(it * count if len(it) == 1 else it for it in numbers), strict=False)
    return all(2 * pad == (size - 1) * step for size, step, pad in axes)
