"""Two graphs of which one keeps the channels of images last: the values of both in one layout.

Nets in flax keep images as (N, H, W, C), those of PyTorch and MindSpore as (N, C, H, W). Which values lie so
is seen at convolutions and pooling: what one reads has the numbers that one of the other side reads, its last
axis being the second there. What follows from it lies alike, until something moves the axes.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import numbers_of, within
from explorer.compare.graphs.view import GraphView, Shape, reach
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.causes import Cause, Inserted, InsertOperator
from explorer.model.graph import (
    OTHER,
    GradGraph,
    Node,
    Output,
    SideName,
    Slot,
    with_outputs,
    with_whole,
)
from explorer.operators.families import family

FEWEST_AXES = 3
"""Of examples, channels and space."""

MOVES = frozenset({"reshape", "transpose", "expand"})
"""What puts axes into another order, or makes such as were not there."""

WINDOWED = frozenset({"conv", "maxpool", "avgpool"})
"""What slides windows along the axes of space."""

PRODUCTS = frozenset({"matmul"})
"""What reads an image, and need not give one."""

COMPUTED = ("op", "accumulate", "call")
"""The kinds of nodes that compute something."""

CLOSE = 1e-3
"""Two values are the same numbers where they differ by no more than this part of the greatest."""


class Laid(NamedTuple):
    """Two graphs in one layout: with channels first; ``moved`` are the outputs that lie otherwise."""

    graphs: tuple[GradGraph, GradGraph]
    moved: dict[SideName, frozenset[Slot]]

    def as_seen(self, side: SideName, node: str, outputs: tuple[Output, ...]) -> tuple[Output, ...]:
        """What a node of one side yields, computed anew, as it lies in these graphs."""
        if not self._has_moved(side, node):
            return outputs
        return tuple(_first(it) if len(it.shape) >= FEWEST_AXES else it for it in outputs)

    def handed_on(
        self, side: SideName, there: Slot, here: Slot, value: Array, order: tuple[int, ...] = ()
    ) -> Array:
        """The value of an output of the other side, as the output of ``side`` lies that it is put into.

        ``order`` is that of its axes in these graphs; () where they lie alike.
        """
        is_moved, becomes_so = there in self.moved[OTHER[side]], here in self.moved[side]
        if is_moved == becomes_so and not order:
            return value
        numbers = unpack(value)
        if is_moved:
            numbers = channels_first(numbers)
        if order:
            numbers = in_order(numbers, order)
        if becomes_so:
            numbers = channels_last(numbers)
        return pack(numbers, value.dtype)

    def in_own_axes(self, cause: Cause, ends: tuple[str | None, str | None]) -> Cause | None:
        """A cause whose axes are those of the graphs as they were recorded; ``ends`` are its nodes.

        None of an op that reads an image with its channels last and gives none: it moves no axes, but
        for the layout in which it is compared.
        """
        *removed, edit = cause.edits
        if cause.form not in ("value", "removed_op"):
            return cause
        if not isinstance(edit, InsertOperator) or edit.op not in AXES:
            return cause
        graph, moved = self.graphs[cause.side == "right"], self.moved[cause.side]
        read = {(it.origin, it.output) for it in graph.edges if it.target == cause.node}
        own = self._has_moved(cause.side, cause.node)
        if removed and not own and not moved.isdisjoint(read):
            return None
        # Of the value of which the other one is made, and of that one.
        other = OTHER[cause.side]
        target = own if removed else self._has_moved(other, ends[other == "right"])
        outputs = graph.by_id()[cause.node].outputs
        # Of each axis of a value with its channels last, its place with them first.
        last = (0, *range(2, len(outputs[0].shape) if outputs else 0), 1)
        numbers = list(edit.numbers)
        if own:
            axes = AXES[edit.op]
            numbers[axes] = [last.index(axis) for axis in numbers[axes]]
        if target and edit.op == "transpose":
            numbers = [numbers[place] for place in last]
        edit = replace(edit, numbers=tuple(numbers))
        return replace(cause, edits=(*removed, edit))

    def _has_moved(self, side: SideName, node: str | None) -> bool:
        return any(slot[0] == node for slot in self.moved[side])


AXES: Mapping[Inserted, slice] = {
    "transpose": slice(None),
    "flip": slice(None),
    "roll": slice(None, None, 2),
    "rows": slice(1),
    "blocks": slice(1),
}
"""Operators that put numbers elsewhere whose numbers are axes, or some of them."""


def in_one_layout(left: GradGraph, right: GradGraph) -> Laid:
    """Two graphs as they are compared: where one keeps channels last, with them first."""
    of_left, of_right = _channels_last(left, right), _channels_last(right, left)
    # A net does one or the other: what is the same in both directions says nothing.
    moved: dict[SideName, frozenset[Slot]] = {
        "left": of_left if len(of_left) > len(of_right) else frozenset(),
        "right": of_right if len(of_right) > len(of_left) else frozenset(),
    }

    def laid(graph: GradGraph, side: SideName) -> GradGraph:
        if not moved[side]:
            return graph
        return with_outputs(graph, lambda slot, it: _first(it) if slot in moved[side] else it)

    return Laid((laid(left, "left"), laid(right, "right")), moved)


def channels_first(array: AnyArray) -> AnyArray:
    """(N, H, W, C) as (N, C, H, W)."""
    return np.moveaxis(array, -1, 1)


def channels_last(array: AnyArray) -> AnyArray:
    """(N, C, H, W) as (N, H, W, C)."""
    return np.moveaxis(array, 1, -1)


def in_order(array: AnyArray, order: tuple[int, ...]) -> AnyArray:
    """An array with its axes in an order, without those of length 1 where it has more."""
    return (array if array.ndim == len(order) else array.squeeze()).transpose(order)


def _first(output: Output) -> Output:
    """An output whose channels are last, with them first."""
    count, *space, channels = output.shape
    whole = output.whole
    if whole is not None and whole.excerpt is None:
        output = with_whole(output, pack(channels_first(unpack(whole)), whole.dtype))
    return replace(output, shape=(count, channels, *space))


# Which values lie with their channels last


def _channels_last(graph: GradGraph, other: GradGraph) -> frozenset[Slot]:
    """The outputs of a graph that have the channels last which the other one has second."""
    read_there = [value for _, value in _read_by_windows(other)]
    read_here = list(_read_by_windows(graph)) if read_there else []
    # Those that stand alike on both sides do not lie with their channels last.
    read_here = [it for it in read_here if not any(_are_one(it[1], there) for there in read_there)]
    turned = [_first(value) for _, value in read_here]
    if not any(_are_one(value, there) for value in turned for there in read_there):
        return frozenset()
    standing: dict[Shape, list[Output]] = {}
    for output in (output for node in other.nodes for output in node.outputs):
        standing.setdefault(output.shape, []).append(output)
    # A net lays all its images alike, also those that differ.
    view = GraphView(graph)
    images = _images(view, [node for node, _ in read_here])
    outputs = {(name, place): view.nodes[name].outputs[place] for name, place in images}
    return frozenset(
        slot
        for slot, output in outputs.items()
        if not any(_are_one(output, it) for it in standing.get(output.shape, ()))
    )


def _read_by_windows(graph: GradGraph) -> Iterator[tuple[Node, Output]]:
    """The ops with windows in forward, each with the images that it reads."""
    nodes = graph.by_id()
    for edge in graph.edges:
        node, origin = nodes[edge.target], nodes[edge.origin]
        is_image = edge.kind == "data" and edge.input == 0 and edge.output < len(origin.outputs)
        if is_image and node.phase == "forward" and family(node.op) in WINDOWED:
            value = origin.outputs[edge.output]
            if len(value.shape) >= FEWEST_AXES:
                yield node, value


def _are_one(one: Output, other: Output) -> bool:
    """Whether two values have the same numbers as they stand."""
    if one.shape != other.shape:
        return False
    own, others = numbers_of(one), numbers_of(other)
    return own is not None and others is not None and are_close(own, others)


def are_close(one: AnyArray, other: AnyArray) -> bool:
    """Whether two arrays of one shape hold the same numbers, but for a small part of the greatest."""
    return within(one, other, (0.0, CLOSE * np.abs(other).max(initial=0.0)))


def _images(view: GraphView, windowed: list[Node]) -> set[Slot]:
    """The outputs that lie like the images of some ops with windows: these, and what follows from them."""

    def onwards(slot: Slot) -> Iterator[Slot]:
        node, shape = view.nodes[slot[0]], view.shape(slot)
        if family(node.op) not in MOVES:
            yield from _read(view, node, shape)
        for edge in view.out_of(node):
            reader = view.nodes[edge.target]
            if edge.output == slot[1] and family(reader.op) not in MOVES | PRODUCTS:
                yield from _made(reader, shape, is_of_one_size=False)
            # What is handed on to an image that is read has its form.
            for derived in view.derived(reader):
                yield from _made(derived, shape)
        for derived in view.derived(node):
            yield from _made(derived, shape)

    start = {slot for node in windowed for slot in _made(node, node.outputs[0].shape)}
    for node in windowed:
        start.update(_read(view, node, view.tensors(node)[0].shape))
    return reach(start, onwards)


def _made(node: Node, shape: Shape, *, is_of_one_size: bool = True) -> Iterator[Slot]:
    """The outputs of an op that have a shape, or as many axes and examples."""
    for place, output in enumerate(node.outputs if node.kind in COMPUTED else ()):
        is_alike = len(output.shape) == len(shape) and output.shape[:1] == shape[:1]
        if output.shape == shape or (is_alike and not is_of_one_size):
            yield node.id, place


def _read(view: GraphView, node: Node, shape: Shape) -> Iterator[Slot]:
    """What an op reads that has a shape, if another op has made it."""
    tensors = view.tensors(node)
    for edge in view.into(node):
        is_op = view.nodes[edge.origin].kind == "op"
        if is_op and edge.input in tensors and tensors[edge.input].shape == shape:
            yield edge.origin, edge.output


# In which order the axes of one graph's value lie in the value of the other that should be the same


MOST_AXES = 5
"""Values with more axes are not put into all orders."""

MOST_READ = 64
"""So many values before one are looked at for the same numbers."""


def order_of_axes(here: GraphView, there: GraphView, slots: tuple[Slot, Slot]) -> Shape | None:
    """The order in which the axes of the second of two outputs lie in the first; () where as they stand.

    It is the only one that gives the shape, or the one of numbers that both are computed from. None
    where neither tells.
    """
    shapes = here.shape(slots[0]), there.shape(slots[1])
    own, other = shapes
    if len(own) != len(other):
        # Axes of length 1 say nothing then.
        own, other = (tuple(it for it in shape if it != 1) for shape in shapes)
    if own == other or sorted(own) != sorted(other):
        return ()
    found = _order(here, there, slots, _orders(other, own))
    if found is None and len(shapes[0]) == len(shapes[1]):
        for moved, order in _moved(there, slots[1]):
            shape = tuple(other[axis] for axis in order)
            behind = _order(here, there, (slots[0], moved), _orders(shape, own))
            if behind is not None:
                return tuple(order[axis] for axis in behind)
    return found


def _moved(view: GraphView, slot: Slot) -> Iterator[tuple[Slot, Shape]]:
    """The outputs that have the numbers of one with its axes in another order, and that order."""
    node = view.nodes[slot[0]]
    numbers = numbers_of(node.outputs[slot[1]])
    for edge in view.out_of(node):
        reader = view.nodes[edge.target]
        is_moved = edge.output == slot[1] and family(reader.op) == "transpose"
        turned = numbers_of(reader.outputs[0]) if is_moved else None
        if numbers is not None and turned is not None:
            for order in _orders(numbers.shape, turned.shape):
                if _is_turned(turned, numbers, order):
                    yield (reader.id, 0), order


def _orders(shape: Shape, wanted: Shape) -> list[Shape]:
    """The orders of the axes of a shape that give another one."""
    if len(shape) > MOST_AXES:
        return []
    orders = permutations(range(len(shape)))
    return [order for order in orders if tuple(shape[axis] for axis in order) == wanted]


def _order(
    here: GraphView, there: GraphView, slots: tuple[Slot, Slot], orders: list[Shape]
) -> Shape | None:
    """Of some orders the only one, or the one that numbers have which both outputs are computed from."""
    if len(orders) == 1:
        return orders[0]
    both = (_nearest_values(*it) for it in zip((here, there), slots, strict=True))
    for value, other in product(*both):
        fitting = [order for order in orders if _is_turned(value, other, order)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _nearest_values(view: GraphView, slot: Slot) -> list[AnyArray]:
    """An output and what it is computed from, but for parameters; in backward, its op in forward too."""
    waiting = [slot[0]]
    for name in waiting:
        node = view.nodes[name]
        read = [it for it, _ in view.slots(name)] + ([node.forward] if node.forward else [])
        read = [it for it in read if view.nodes[it].kind != "parameter"]
        waiting += [it for it in read if it not in waiting]
        if len(waiting) > MOST_READ:
            break
    outputs = (output for name in waiting[:MOST_READ] for output in view.nodes[name].outputs)
    return [numbers for numbers in map(numbers_of, outputs) if numbers is not None]


def _is_turned(value: AnyArray, other: AnyArray, order: Shape) -> bool:
    """Whether a value has the numbers of another one with the axes of that in an order."""
    own, others = (it if it.ndim == len(order) else it.squeeze() for it in (value, other))
    if own.ndim != len(order) or others.ndim != len(order):
        return False
    turned = in_order(others, order)
    return turned.shape == own.shape and are_close(own, turned)
