"""What to write in either net so that it does what the other one does, by the table of correspondences."""

from collections.abc import Mapping

from explorer.correspondence.records import REQUIRED, UNKNOWN, Argument, Row
from explorer.correspondence.table import layer_of, rows_named
from explorer.correspondence.translation import translate
from explorer.correspondence.ways import NoCounterpartError
from explorer.model.causes import Cause, Mend, OtherArguments, OtherOperator
from explorer.model.engines import ENGINES, Framework
from explorer.model.graph import OTHER, Arguments, ArgumentValue, Layer, Node

Frameworks = tuple[Framework, Framework]
"""Those of the two graphs, the left one first."""


def mends(cause: Cause, node: Node, engines: tuple[str, str]) -> tuple[Mend, ...]:
    """What to write on either side, the left one first, for the arguments of a cause.

    ``node`` is the op that was tried. () where the table does not say it.
    """
    frameworks = ENGINES[engines[0]].framework, ENGINES[engines[1]].framework
    if frameworks[0] == frameworks[1]:
        return ()
    if isinstance(cause.change, OtherOperator):
        return _of_operator(cause)
    if not isinstance(cause.change, OtherArguments):
        return ()
    left, right = cause.layers
    if left is not None and right is not None:
        both = (
            _of_layer(0, left, right, frameworks, cause.own),
            _of_layer(1, right, left, frameworks, cause.own),
        )
    else:
        ours = 0 if cause.side == "left" else 1
        both = _of_function(ours, cause, node), _there(1 - ours, cause, node)
    return tuple(mend for mend in both if mend is not None)


def _of_layer(
    place: int, layer: Layer, other: Layer, frameworks: Frameworks, tried: Arguments
) -> Mend | None:
    """The settings of a layer with which it does what the other one does."""
    framework, there = frameworks[place], frameworks[1 - place]
    row = layer_of(framework, layer.name)
    if row is None or row.name(there).rpartition(".")[2] != other.name.rpartition(".")[2]:
        return None
    wanted = _translated(row, there, other.settings)
    changed = {}
    for name in _names(row, framework, tried):
        if name in wanted and not _is_same(wanted[name], layer.settings.get(name)):
            changed[name] = _shorter(wanted[name])
    if not changed:
        return None
    return Mend(side="right" if place else "left", call=layer.name, arguments=changed)


def _of_function(place: int, cause: Cause, node: Node) -> Mend | None:
    """The arguments of PyTorch's function with which it does what the other side does."""
    row = _function(node.op)
    if row is None:
        return None
    names = {argument.torch for argument in row.arguments}
    changed = {name: value for name, value in cause.arguments.items() if name in names}
    if len(changed) < len(cause.arguments):
        return None
    return Mend(side="right" if place else "left", call=row.torch, arguments=changed)


def _there(place: int, cause: Cause, node: Node) -> Mend | None:
    """The arguments of MindSpore's function with which it does what PyTorch's op does."""
    row = _function(node.op)
    if row is None:
        return None
    wanted = _translated(row, "torch", node.arguments)
    own = _translated(row, "torch", {**node.arguments, **cause.arguments})
    names = _names(row, "mindspore", cause.own)
    changed = {name: wanted[name] for name in names if wanted.get(name) != own.get(name)}
    if not changed:
        return None
    return Mend(side="right" if place else "left", call=row.mindspore, arguments=changed)


def _of_operator(cause: Cause) -> tuple[Mend, ...]:
    """The function of either side that does what the other side's operator does."""
    other, own = _function(cause.other_op), _function(cause.op)
    if other is None or own is None:
        return ()
    both = [
        Mend(side=cause.side, call=other.torch, arguments={}),
        Mend(side=OTHER[cause.side], call=own.mindspore, arguments={}),
    ]
    return tuple(sorted(both, key=lambda mend: mend.side))


def _function(op: str) -> Row | None:
    """The row of the function that a user calls for an operator of PyTorch's graphs."""
    # An overload goes by the name of its operator: "aten._softmax.default".
    for row in rows_named(".".join(op.split(".")[:2])):
        if row.torch.startswith("torch."):
            return row
    return None


def _names(row: Row, framework: Framework, tried: Arguments) -> list[str]:
    """The arguments of one side that stand for those of PyTorch's that were tried."""
    tied = [it for it in row.arguments if it.torch in tried and _is_free(it)]
    ways = {f"of_{argument.way}" for argument in tied}
    tied += [argument for argument in row.arguments if argument.way in ways]
    return [argument.name(framework) for argument in tied if argument.name(framework)]


def _is_free(argument: Argument) -> bool:
    """Whether an argument was checked with several values: it may be that MindSpore takes no other."""
    checked = {*argument.values, argument.mindspore_default} - {REQUIRED, UNKNOWN}
    return len(checked) > 1


def _translated(row: Row, source: Framework, given: Arguments) -> Mapping[str, ArgumentValue]:
    """Arguments as the other framework takes them; none where they cannot be translated."""
    known = {argument.name(source) for argument in row.arguments}
    values = {name: value for name, value in given.items() if name in known}
    try:
        found = translate(row, source, values)
    except (NoCounterpartError, KeyError, IndexError):
        return {}
    if found.pads_first:
        return {}
    # Of the values of a table, those that a record of arguments can hold as well.
    return {name: value for name, value in found.arguments.items() if _is_plain(value)}  # type: ignore[misc]


def _is_plain(value: object) -> bool:
    """Whether a value is one number or text, or a sequence of such."""
    if isinstance(value, tuple):
        return not any(isinstance(item, tuple) for item in value)
    return True


def _is_same(one: ArgumentValue, other: ArgumentValue) -> bool:
    """Whether two settings are one, where a number stands for as many as are needed."""
    first, second = _shorter(one), _shorter(other)
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= 1e-6 * max(abs(first), abs(second))
    return first == second


def _shorter(value: ArgumentValue) -> ArgumentValue:
    """One number in the place of several that are the same."""
    if isinstance(value, tuple) and value and all(item == value[0] for item in value):
        return value[0]
    return value
