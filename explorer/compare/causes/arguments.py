"""An op at which edits are tried, and the other arguments that it may have."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple

from explorer.compare.causes.rows import Ends
from explorer.compare.graphs.sameness import numbers_of
from explorer.compare.graphs.view import GraphView, Shape
from explorer.model.causes import (
    Edits,
    Factor,
    Inserted,
    InsertOperator,
    Rewire,
    SetArguments,
    Source,
)
from explorer.model.graph import Arguments, ArgumentValue, Node, Output
from explorer.operators.families import BOOKKEEPING, family
from explorer.operators.table import TRIED

Shapes = Mapping[int, Shape]

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


@dataclass(frozen=True)
class Spot:
    """An op at which edits are tried, with what is compared there and the value that it should have."""

    ends: Ends
    node: Node
    target: Output

    @property
    def here(self) -> GraphView:
        """The graph of the op."""
        return self.ends.here

    @cached_property
    def tensors(self) -> dict[int, Output]:
        """The tensors that the op reads, by their place among them."""
        return self.here.tensors(self.node)

    @property
    def floats(self) -> list[int]:
        """The places of tensors of numbers of single precision."""
        return [slot for slot, read in self.tensors.items() if read.dtype == "float32"]

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
        # What only moves the numbers that the other side reads.
        reads = there.origins(row[0])
        while reads:
            ahead = reads.pop()
            if ahead.kind == "op" and family(ahead.op) in BOOKKEEPING:
                pool += ahead.arguments.values()
                reads += there.origins(ahead)
        scopes = {node.scope for node in (*row, *self.ends.own_row)}
        for layers in (there.graph.layers, self.here.graph.layers):
            for scope in sorted(scopes & layers.keys()):
                pool += layers[scope].settings.values()
        return pool

    def changes(self, kind: Literal["single", "windows", "double"]) -> Iterator[SetArguments]:
        """The op with another argument, with two of a window, or with two others."""
        return (set_arguments(self.node, change) for change in getattr(self.arguments, kind))

    def inserted(self, op: Inserted, *slots: int, **what: Any) -> InsertOperator:
        """An operator on inputs of the op."""
        return InsertOperator(node=self.node.id, op=op, slots=slots, **what)

    def rewired(self, slot: int, source: Source) -> Rewire:
        """Another value as an input of the op."""
        return Rewire(node=self.node.id, slots=(slot,), source=source)


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
    elif name in TRIED.orders and isinstance(value, tuple):
        orders = [order for order in pool if isinstance(order, tuple) and set(order) == set(value)]
        for one, second in combinations(range(len(value)), 2):
            exchanged = {one: second, second: one}
            orders.append(tuple(value[exchanged.get(at, at)] for at in range(len(value))))
        # In the order that they have the op is left out, which is tried as such.
        yield from (order for order in orders if order != tuple(range(len(value))))
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


# A slice at other places

STARTS, LIMITS, STRIDES = "start_indices", "limit_indices", "strides"
"""Where a slice begins along each axis, where it ends, and its steps: arguments of JAX's slices."""

OF_SLICES = (frozenset({"start", "end", "step"}), frozenset({STARTS, LIMITS, STRIDES}))
"""Arguments that are one thing: which elements a slice takes."""


def slices(node: Node, read: Shape, made: Shape) -> Iterator[Arguments]:
    """Other arguments of a slice of a shape ``read``, of which it takes the shape ``made``.

    It then begins at the first or last place of an axis, or one place before or behind where it begins; or
    it takes every second element, or as many in a row as it takes of every second. Nothing of ops that are
    no slices.
    """
    dim, start = node.arguments.get("dim"), node.arguments.get("start")
    if len(made) != len(read):
        return
    if isinstance(dim, int) and isinstance(start, int):
        step = node.arguments.get("step")
        own = start % max(read[dim], 1), step if isinstance(step, int) else 1
        for first, by in _other_slices(own, read[dim], made[dim]):
            changed: Arguments = {"start": first, "end": min(first + by * made[dim], read[dim])}
            yield changed if by == own[1] else {**changed, "step": by}
    starts = _along(STARTS, node.arguments, len(made))
    if len(starts) != len(made):
        return  # convolutions have strides too
    strides = _along(STRIDES, node.arguments, len(made)) or (1,) * len(starts)
    for axis, own in enumerate(zip(starts, strides, strict=True)):
        for first, by in _other_slices(own, read[axis], made[axis]):
            firsts = (*starts[:axis], first, *starts[axis + 1 :])
            steps = (*strides[:axis], by, *strides[axis + 1 :])
            ends = [at + step * n for at, step, n in zip(firsts, steps, made, strict=True)]
            if LIMITS in node.arguments:
                limits = tuple(map(min, ends, read))
                yield {STARTS: firsts, LIMITS: limits, **({STRIDES: steps} if by != own[1] else {})}
            elif by == own[1]:
                yield {STARTS: firsts}


def _other_slices(own: tuple[int, int], length: int, count: int) -> Iterator[tuple[int, int]]:
    """Where else a slice may begin that takes ``count`` elements of an axis, and its steps."""
    first, step = own
    last = length - count
    wanted = [(place, 1) for place in (0, last)]
    if step == 1:
        wanted += [(first - 1, 1), (first + 1, 1)]
    if count > 1 and 2 * count in (length, length + 1):
        wanted += [(0, 2), (1, 2)]
    for place, by in dict.fromkeys(wanted):
        if (place, by) != own and 0 <= place <= length - by * (count - 1) - 1:
            yield place, by


def _along(name: str, arguments: Arguments, axes: int) -> tuple[int, ...]:
    """An argument of windows as one number for each axis; () where there is none."""
    value = arguments.get(name, ())
    given = value if isinstance(value, tuple) else (value,)
    numbers = tuple(number for number in given if isinstance(number, int))
    return numbers * axes if len(numbers) == 1 else numbers


# Other padding than an op can be given, such as more at the end of an axis


SPECS = re.compile(r"(?:lhs|rhs|out)_spec=\(([\d, ]*)\)")
"""The axes of a convolution's image, kernel and value in the text of its dimensions, spatial ones last."""


def _missing(node: Node, read: Shapes, target: Shape, padded_axes: int) -> list[int]:
    """How many elements each axis lacks for the windows that are wanted; [] where that is not known."""
    names = TRIED.windowed[node.op]
    whole = read[0], read.get(1, ()), target
    # In PyTorch's graphs the axes of space are the last ones, as many as have padding.
    shapes = [shape[-padded_axes:] for shape in whole]
    if names.number is None:
        shapes = list(whole)
        specs = SPECS.findall(str(node.arguments.get("dimension_numbers", "")))
        if not names.sizes and len(specs) != len(whole):
            return []
        for place, spec in enumerate(specs):
            axes = [int(axis) for axis in spec.split(",")[2:]]
            if max(axes, default=0) >= len(whole[place]):
                return []
            shapes[place] = tuple(whole[place][axis] for axis in axes)
    lengths, kernel, wanted = shapes
    sizes, strides, steps = (
        _along(it, node.arguments, len(wanted)) for it in (names.sizes, names.strides, names.steps)
    )
    sizes = sizes or kernel
    windows = lengths, wanted, sizes, strides or sizes, steps or (1,) * len(wanted)
    if len(set(map(len, windows))) > 1:
        return []
    return [
        (count - 1) * stride + step * (window - 1) + 1 - length
        for length, count, window, stride, step in zip(*windows, strict=True)
    ]


def padded(node: Node, read: Shapes, target: Shape) -> Iterator[Edits]:
    """An op with its input padded so that it yields as many windows as the shape ``target`` has.

    ``read`` are the shapes of what the op reads, by their place among it. More is added at the end than
    at the beginning, as "same" padding does, or all of it there; and the other way round.
    """
    own = node.arguments.get("padding")
    if node.op not in TRIED.windowed or not isinstance(own, tuple) or 0 not in read:
        return
    missing, number = _missing(node, read, target, len(own)), TRIED.windowed[node.op].number
    if not any(missing) or min(missing) < 0:
        return
    halves = [(total // 2, total - total // 2) for total in missing]
    at_ends = [(0, total) for total in missing]
    seen = [own if number is None else tuple(it for it in own for _end in "ab")]
    for pairs in (halves, at_ends, [it[::-1] for it in halves], [it[::-1] for it in at_ends]):
        ends = tuple(it for pair in pairs for it in pair)
        if ends in seen:
            continue
        seen.append(ends)
        if number is None:
            yield (set_arguments(node, {"padding": ends}),)
        else:
            factor = Factor(number)
            pad = InsertOperator(node=node.id, op="pad", slots=(0,), factor=factor, numbers=ends)
            yield pad, set_arguments(node, {"padding": (0,) * len(own)})
