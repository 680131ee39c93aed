"""What to write in either net so that it does what the other one does, by the catalogue of operators."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from explorer.model.causes import Cause, FromThere, InsertOperator, Mend, Rewire, Zeros
from explorer.model.engines import NEEDED, Framework, engine_named
from explorer.model.graph import OTHER, Arguments, Layer, Node, SideName
from explorer.operators.records import REQUIRED, UNKNOWN, Row
from explorer.operators.table import TRIED, function_of, last_name, layer_of, names
from explorer.operators.translation import as_called, translated, turned
from explorer.operators.values import alike, are_near
from explorer.operators.ways import HUB, Setting


class _Side(NamedTuple):
    """One of the two nets: its framework, and the layer in which its op runs."""

    name: SideName
    framework: Framework
    layer: Layer | None


def mends(cause: Cause, node: Node, engines: tuple[str, str]) -> tuple[Mend, ...]:
    """What to write on either side, the left one first, for a cause that was found at an op.

    ``node`` is the op that was tried. () where the catalogue does not say it.
    """
    frameworks = [engine_named(engine).framework for engine in engines]
    if frameworks[0] == frameworks[1]:
        return ()
    ours, theirs = map(_Side, OTHER, frameworks, cause.layers)
    if cause.side == "right":
        ours, theirs = theirs, ours
    return tuple(sorted(_mends(cause, node, ours, theirs), key=lambda mend: mend.side))


def _mends(cause: Cause, node: Node, ours: _Side, theirs: _Side) -> Iterator[Mend]:
    """The mends of both sides; ``ours`` is that of the op."""
    are_layers = ours.layer is not None and theirs.layer is not None
    match cause.form, cause.edits[0]:
        # Settings of layers, by PyTorch's names.
        case "inputs", InsertOperator(op="pad"):
            yield from _of_layers(ours, theirs, {"padding": 0})
        case "inputs", Rewire(source=Zeros(is_filled=False)):
            yield from _of_layers(ours, theirs, {"bias": True})
        case "inputs", Rewire(source=FromThere()):
            yield from _of_layers(ours, theirs, {"p": 0.5})  # the mask of a dropout
        case "arguments" | "operator", _ if ours.framework not in NEEDED:
            # What users write for an op of graphs that name its arguments in their own way.
            row = function_of(ours.framework, cause.other_op or cause.op)
            column = row.columns[ours.framework] if row else None
            if column and cause.arguments.keys() <= column.graph_arguments.keys():
                called = column.graph_arguments
                given = {called[name]: alike(value) for name, value in cause.arguments.items()}
                yield Mend(side=ours.name, call=column.writes, arguments=given)
        case "operator", _:
            # The layer or function of either side that does what the other side's op does.
            own = function_of(ours.framework, cause.op)
            other = function_of(ours.framework, cause.other_op)
            if own is None or other is None:
                return
            call, settled = other.name(ours.framework), TRIED.settled.get(cause.other_op, {})
            as_layer = f"{ours.layer.name if ours.layer else ''} as {cause.other_op}"
            if ours.layer and as_layer in TRIED.settled:
                call, settled = ours.layer.name, TRIED.settled[as_layer]
            yield Mend(side=ours.name, call=call, arguments=settled)
            yield from _said(theirs, own, TRIED.settled.get(cause.op, {}))
        case "arguments", _ if ours.framework == HUB and are_layers:
            yield from _of_layers(ours, theirs, cause.own)
        case "arguments", _ if ours.framework == HUB:
            yield from _of_function(cause, node, ours, theirs)
        case "arguments", _:
            yield from _of_arguments(cause, node, ours, theirs)


def _of_layers(ours: _Side, theirs: _Side, tried: Arguments) -> Iterator[Mend]:
    """The settings with which the layer of either side does what the other one does."""
    for side, other in ((ours, theirs), (theirs, ours)):
        row = layer_of(side.framework, side.layer.name) if side.layer else None
        if row is None or side.layer is None or other.layer is None:
            continue
        if last_name(row.name(other.framework)) == last_name(other.layer.name):
            wanted = translated(row, other.framework, other.layer.settings)
            yield from _changed(side, side.layer.name, row, wanted, tried, side.layer.settings)


def _said(side: _Side, row: Row, given: Arguments, call: str = "") -> Iterator[Mend]:
    """A function or ``call`` with arguments in PyTorch's words, in those of a side, as far as it has them."""
    by_name = {argument.name(HUB): argument for argument in row.arguments}
    if not row.name(side.framework) or not given.keys() <= by_name.keys():
        return
    arguments = dict(given)
    if side.framework != HUB:
        if not all(by_name[name].name(side.framework) for name in given):
            return
        arguments = {}
        for name, value in given.items():
            turns = turned(by_name[name], HUB, side.framework, Setting({name: alike(value)}))
            arguments.update(turns)  # type: ignore[arg-type]  # as deep as what is given
    yield Mend(side=side.name, call=call or row.name(side.framework), arguments=arguments)


def _changed(
    side: _Side, call: str, row: Row, wanted: Arguments, tried: Arguments, given: Arguments
) -> Iterator[Mend]:
    """A call with those arguments that stand for what was tried and are not given as they are wanted."""
    tied = [name for name in _tied_names(row, side.framework, tried) if name in wanted]
    values = {name: alike(wanted[name]) for name in tied}
    arguments = {
        name: value
        for name, value in values.items()
        if name not in given or not are_near(value, alike(given[name]))
    }
    if arguments:
        yield Mend(side=side.name, call=call, arguments=arguments)


def _of_function(cause: Cause, node: Node, ours: _Side, theirs: _Side) -> Iterator[Mend]:
    """Both mends where the arguments are those of an op of PyTorch's that is in no layer."""
    row = function_of(HUB, node.op)
    if row is None:
        return
    yield from _said(ours, row, cause.arguments)
    if theirs.framework not in NEEDED:
        yield from _said(theirs, row, as_called(row, HUB, cause.own))
        return
    # What the op has, translated, where it would not be the same with what was changed.
    wanted = translated(row, HUB, node.arguments)
    changed = translated(row, HUB, {**node.arguments, **cause.arguments})
    tied = _tied_names(row, theirs.framework, cause.own)
    arguments = {it: wanted[it] for it in tied if wanted.get(it) != changed.get(it)}
    if arguments:
        yield Mend(side=theirs.name, call=row.name(theirs.framework), arguments=arguments)


def _of_arguments(cause: Cause, node: Node, ours: _Side, theirs: _Side) -> Iterator[Mend]:
    """Both mends where the arguments are those of an op that is not PyTorch's."""
    of_layer = layer_of(ours.framework, ours.layer.name) if ours.layer else None
    rows = [*names().get(f"ops.{node.op}", ()), *names().get(node.op, ()), of_layer]
    own, wanted = (_as_torch(rows, ours.framework, it) for it in (cause.own, cause.arguments))
    # A number stands for as many as are needed.
    changed = {
        name: it for name, it in wanted.items() if not are_near(alike(it), alike(own.get(name)))
    }
    function = function_of(ours.framework, cause.op)

    row, call, settings = function, function.name(ours.framework) if function else "", {}
    if ours.layer and of_layer:
        row, call, settings = of_layer, ours.layer.name, ours.layer.settings
    if row is not None:
        said = translated(row, HUB, changed, are_all=False)
        yield from _changed(ours, call, row, said, changed, settings)

    row, call = function, ""
    if theirs.layer and of_layer and of_layer == layer_of(theirs.framework, theirs.layer.name):
        row, call = of_layer, theirs.layer.name
    if row is not None and changed and changed.keys() <= own.keys():
        yield from _said(theirs, row, {name: alike(own[name]) for name in changed}, call)


def _as_torch(rows: Iterable[Row | None], framework: Framework, given: Arguments) -> Arguments:
    """Arguments of an op by the names of PyTorch's function or operator; {} of what has none there."""
    given = dict(given)
    for name, users in TRIED.user_names.items():
        if name in given:
            given[users] = int(bool(given.pop(name)))
    for row in filter(None, rows):
        found = translated(row, framework, given, are_all=False)
        if found:
            return found
    return {}


def _tied_names(row: Row, framework: Framework, tried: Arguments) -> list[str]:
    """The arguments of one side that stand for those of PyTorch's that were tried."""
    # Of one that was checked with one value it may be that MindSpore takes no other.
    checked = [{*it.values, it.default("mindspore")} - {REQUIRED, UNKNOWN} for it in row.arguments]
    several = [it for it, values in zip(row.arguments, checked, strict=True) if len(values) > 1]
    tied = [it for it in several if it.name(HUB) in tried]
    # As a number of elements goes with the mode of padding.
    ways = tuple(argument.way() for argument in tied)
    companions = [it for it in row.arguments if it.way().startswith("of_")]
    tied += [it for it in companions if any(way.endswith(it.way()[3:]) for way in ways)]
    return [argument.name(framework) for argument in tied if argument.name(framework)]
