"""An op at which edits are tried, and the other arguments that it may have."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from explorer.compare.causes.rows import Ends
from explorer.compare.graphs.sameness import numbers_of
from explorer.model.causes import SetArguments
from explorer.model.graph import Arguments, ArgumentValue, Node, Output
from explorer.operators.table import TRIED

LAST = 2**63 - 1
"""The end of a slice that ends with its axis."""

MOST_WINDOWS = 6
"""Padding of more ends than those of three axes is of all axes."""

MOST_CHANGES = 60
"""How many changes of one argument, and of two, are tried at one op."""


class ArgumentChanges(NamedTuple):
    """Changes of one argument each, of two of a window such as dilation and padding, and of two others."""

    single: list[Arguments]
    windows: list[Arguments]
    double: list[Arguments]


class Spot:
    """An op at which edits are tried, with what is compared there and the value that it should have."""

    def __init__(self, ends: Ends, node: Node, target: Output) -> None:
        self.ends = ends
        self.node = node
        self.target = target
        self.here = ends.here

    @cached_property
    def arguments(self) -> ArgumentChanges:
        """Other arguments that the op may have: its axes are the most of what it reads and yields."""
        nodes = (self.node, *self.here.origins(self.node))
        rank = max((len(it.outputs[0].shape) for it in nodes if it.outputs), default=0)
        return argument_changes(self.node.arguments, self._pool(), rank)

    def _pool(self) -> list[ArgumentValue]:
        """What the ops of the other side and the layers of both sides were given, constants too."""
        pool: list[ArgumentValue] = []
        there, row = self.ends.there, self.ends.row
        for node in row:
            pool += node.arguments.values()
        for edge in (edge for node in row for edge in there.into(node)):
            origin = there.nodes[edge.origin]
            if origin.kind == "constant" and edge.output < len(origin.outputs):
                value = numbers_of(origin.outputs[edge.output])
                if value is not None and value.size == 1:
                    number = float(value.ravel()[0])
                    pool += [number, int(number)] if number.is_integer() else [number]
        scopes = {node.scope for node in (*row, *self.ends.own_row)}
        for layers in (there.graph.layers, self.here.graph.layers):
            for scope in sorted(scopes & layers.keys()):
                pool += layers[scope].settings.values()
        return pool


def set_arguments(node: Node, arguments: Arguments) -> SetArguments:
    """Other arguments of a node in the place of its own."""
    own = {name: node.arguments[name] for name in arguments if name in node.arguments}
    return SetArguments(node=node.id, own=own, arguments=arguments)


def argument_changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> ArgumentChanges:
    """Changes of an op's ``own`` arguments; ``pool`` is what the other side suggests.

    ``rank`` is the number of axes.
    """
    suggested: list[Arguments] = []
    for name, value in own.items():
        seen = [value]
        for other in _alternatives(name, value, pool, rank) if name not in TRIED.fixed else ():
            if other not in seen:
                seen.append(other)
                suggested.append({name: other})
    suggested = suggested[:MOST_CHANGES]
    usual: list[Arguments] = []
    for name, value in own.items():
        often: list[Arguments] = [{name: it} for it in TRIED.usual.get(name, ()) if it != value]
        usual += [change for change in often if change not in suggested]
    two = combinations(suggested, 2)
    pairs = [{**one, **other} for one, other in two if one.keys() != other.keys()]
    windows = [change for change in pairs if change.keys() <= TRIED.of_windows]
    double = [change for change in pairs if not change.keys() <= TRIED.of_windows]
    return ArgumentChanges([*suggested, *usual], windows[:MOST_CHANGES], double[:MOST_CHANGES])


def _alternatives(
    name: str, value: ArgumentValue, pool: Iterable[ArgumentValue], rank: int
) -> Iterator[ArgumentValue]:
    """Other values that an argument may have, those that the other side suggests first."""
    if name in TRIED.few:
        yield from TRIED.few[name]
    elif isinstance(value, bool):
        yield not value
    elif name in TRIED.axes and isinstance(value, int):
        yield from range(rank)
    elif name in TRIED.axes and isinstance(value, tuple) and value:
        for count in (len(value), *range(1, rank + 1)):
            yield from combinations(range(rank), count)
    else:
        if name in TRIED.positions and isinstance(value, int):
            yield from (value - 1, value + 1)
            yield from (LAST, -1) if name == "end" else ()
        # A zero last: it bounds variances and fills masks, and an eps near it gives the same.
        for other in sorted(pool, key=lambda other: isinstance(other, float) and not other):
            yield from _in_place_of(value, other)
        if isinstance(value, tuple):
            yield from _of_windows(name, value)


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if value is None or other is None:
        if isinstance(value, float) or isinstance(other, float):
            yield other
    elif isinstance(value, float) and isinstance(other, float):
        yield other
        yield 1 - other  # a momentum the other way round
    elif isinstance(value, int) and isinstance(other, int):
        yield other
    elif isinstance(value, tuple) and isinstance(other, int):
        yield (other,) * len(value)
    elif isinstance(value, tuple) and isinstance(other, tuple) and len(other) >= len(value) > 0:
        # Strides of four axes end with those of two.
        numbers = [item for item in other if isinstance(item, int)]
        if len(numbers) == len(other):
            yield tuple(numbers[-len(value) :])


def _of_windows(name: str, value: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Other numbers of a window along all of its axes, and padding at other ends of them."""
    for number in TRIED.windows.get(name, ()):
        yield (number,) * len(value)
    if name == "pad":
        # The two ends of each axis exchanged, or half of it at each.
        pairs = list(zip(value[::2], value[1::2], strict=False))
        yield tuple(number for pair in pairs for number in pair[::-1] if isinstance(number, int))
        sums = [sum(it for it in pair if isinstance(it, int)) for pair in pairs]
        yield tuple(number for total in sums for number in (total // 2, total - total // 2))
        yield tuple(number for total in sums for number in (total - total // 2, total // 2))
    if name == "padding" and len(value) > MOST_WINDOWS:
        # At both ends of the axes of images, behind those of examples and channels.
        for number in TRIED.windows[name]:
            yield (0,) * 4 + (number,) * (len(value) - 4)
