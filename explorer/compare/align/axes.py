"""In which order the axes of one graph's value lie in the value of the other that should be the same."""

from collections.abc import Iterator
from itertools import permutations, product

from explorer.compare.graphs.layouts import are_close, in_order
from explorer.compare.graphs.sameness import numbers_of
from explorer.compare.graphs.view import GraphView, Slot
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from explorer.operators.families import family

MOST_AXES = 5
"""Values with more axes are not put into all orders."""

MOST_READ = 64
"""So many values before one are looked at for the same numbers."""

Shape = tuple[int, ...]
Shapes = tuple[Shape, Shape]


class Before:
    """A graph and what is read of it: the values from which one of them is computed, the nearest first."""

    def __init__(self, graph: GradGraph) -> None:
        self._flow = GraphView(graph)

    def read(self, node: str) -> list[Slot]:
        """The outputs that a node reads."""
        return [(edge.origin, edge.output) for edge in self._flow.into(self._flow.nodes[node])]

    def values(self, slot: Slot) -> Iterator[AnyArray]:
        """An output and what it is computed from, but for parameters; in backward, its op in forward too."""
        waiting = [slot[0]]
        for name in waiting:
            node = self._flow.nodes[name]
            read = [it.id for it in self._flow.origins(node)]
            read += [node.forward] if node.forward else []
            read = [it for it in read if self._flow.nodes[it].kind != "parameter"]
            waiting += [it for it in read if it not in waiting]
            if len(waiting) > MOST_READ:
                break
        for name in waiting[:MOST_READ]:
            for output in self._flow.nodes[name].outputs:
                numbers = numbers_of(output)
                if numbers is not None:
                    yield numbers

    def moved(self, slot: Slot) -> Iterator[tuple[Slot, Shape]]:
        """The outputs that have the numbers of one with its axes in another order, and that order."""
        node = self._flow.nodes[slot[0]]
        numbers = numbers_of(node.outputs[slot[1]])
        for edge in self._flow.out_of(node):
            reader = self._flow.nodes[edge.target]
            if edge.output != slot[1] or family(reader.op) != "transpose" or numbers is None:
                continue
            turned = numbers_of(reader.outputs[0])
            if turned is not None:
                for order in _orders(numbers.shape, turned.shape):
                    if _is_turned(turned, numbers, order):
                        yield (reader.id, 0), order


def order_of_axes(
    here: Before, there: Before, slots: tuple[Slot, Slot], shapes: Shapes
) -> Shape | None:
    """The order in which the axes of the second of two outputs lie in the first; () where as they stand.

    It is the only one that gives the shape, or the one of numbers that both are computed from. None
    where neither tells.
    """
    own, other = shapes
    if len(own) != len(other):
        # Axes of length 1 say nothing then.
        own, other = (tuple(it for it in shape if it != 1) for shape in shapes)
    if own == other or sorted(own) != sorted(other):
        return ()
    found = _order(here, there, slots, _orders(other, own))
    if found is None and len(shapes[0]) == len(shapes[1]):
        for moved, order in there.moved(slots[1]):
            shape = tuple(other[axis] for axis in order)
            behind = _order(here, there, (slots[0], moved), _orders(shape, own))
            if behind is not None:
                return tuple(order[axis] for axis in behind)
    return found


def _orders(shape: Shape, wanted: Shape) -> list[Shape]:
    """The orders of the axes of a shape that give another one."""
    if len(shape) > MOST_AXES:
        return []
    orders = permutations(range(len(shape)))
    return [order for order in orders if tuple(shape[axis] for axis in order) == wanted]


def _order(
    here: Before, there: Before, slots: tuple[Slot, Slot], orders: list[Shape]
) -> Shape | None:
    """Of some orders the only one, or the one that numbers have which both outputs are computed from."""
    if len(orders) == 1:
        return orders[0]
    values = list(there.values(slots[1]))
    for value, other_value in product(here.values(slots[0]), values):
        fitting = [order for order in orders if _is_turned(value, other_value, order)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _is_turned(value: AnyArray, other: AnyArray, order: Shape) -> bool:
    """Whether a value has the numbers of another one with the axes of that in an order."""
    own, others = (it if it.ndim == len(order) else it.squeeze() for it in (value, other))
    if own.ndim != len(order) or others.ndim != len(order):
        return False
    turned = in_order(others, order)
    return turned.shape == own.shape and are_close(own, turned)
