"""What is tried where two ops give different values for equal inputs.

It is guessed freely, from what the other side's ops and layers were given: each guess is tried, and only
one that gives the other side's value is a cause.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from explorer.compare.kinds import AXES, FEW_VALUES, FIXED, KINDS, USUAL
from explorer.model.causes import Trial
from explorer.model.divergence import Divergence, OtherValue, ResultElsewhere, Row
from explorer.model.engines import ENGINES
from explorer.model.graph import (
    Arguments,
    ArgumentValue,
    GradGraph,
    Node,
    Output,
    SideName,
)

MOST_TRIALS = 60
"""How many changes are tried at one op."""


class Suspect(NamedTuple):
    """An op that can be computed in other ways, its own value, and the one that it should then have.

    ``other`` is the op of the other side. ``trials`` begin with none that changes anything.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    trials: tuple[Trial, ...]


class _Ends(NamedTuple):
    """What two graphs have at a divergence: an op of ``here``, and one or several in a row of ``there``.

    What differs is their first output, or the ``result`` of that name which they make.
    """

    side: SideName
    here: GradGraph
    there: GradGraph
    node: Node
    row: list[Node]
    result: str


def suspects_at(divergence: Divergence, left: GradGraph, right: GradGraph) -> tuple[Suspect, ...]:
    """What can be tried at a divergence, what PyTorch has there before what MindSpore has."""
    both = _ends(divergence, left, right)
    suspects = map(_suspect, sorted(both, key=lambda ends: not _is_of_torch(ends.here)))
    return tuple(suspect for suspect in suspects if suspect is not None)


def _suspect(ends: _Ends) -> Suspect | None:
    """What can be tried at one end of a divergence; None where nothing can."""
    own = _value(ends.here, ends.node, ends.result)
    target = _value(ends.there, ends.row[-1], ends.result)
    trials = _trials(ends.node, _pool(ends), _rank(ends.here, ends.node))
    if own is None or target is None or not trials:
        return None
    return Suspect(ends.side, ends.node, ends.row[-1], own, target, (Trial(ends.node.id), *trials))


def _ends(divergence: Divergence, left: GradGraph, right: GradGraph) -> list[_Ends]:
    """The single ops of both sides, which can be computed again, and what the other one has instead."""
    result = ""
    rows: tuple[Row | None, Row | None] = (None, None)
    if isinstance(divergence, OtherValue):
        rows = divergence.rows
    elif isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    else:
        return []
    first, second = divergence.nodes
    if first is None or second is None:
        return []
    ours, theirs = _row(left, first, rows[0]), _row(right, second, rows[1])
    ends = []
    if len(ours) == 1 and theirs:
        ends.append(_Ends("left", left, right, ours[0], theirs, result))
    if len(theirs) == 1 and ours:
        ends.append(_Ends("right", right, left, theirs[0], ours, result))
    return ends


def _is_of_torch(graph: GradGraph) -> bool:
    return ENGINES[graph.engine].framework == "torch"


def _rank(graph: GradGraph, node: Node) -> int:
    """The most axes of what a node reads and yields."""
    nodes = graph.by_id()
    read = [nodes[edge.origin] for edge in graph.edges if edge.target == node.id]
    shapes = [output.shape for one in (node, *read) for output in one.outputs[:1]]
    return max(map(len, shapes), default=0)


def _pool(ends: _Ends) -> list[ArgumentValue]:
    """What the ops of the other side and the layers of both sides were given."""
    pool: list[ArgumentValue] = []
    for node in ends.row:
        pool += node.arguments.values()
    scopes = {node.scope for node in (*ends.row, ends.node)}
    for graph in (ends.there, ends.here):
        for scope in sorted(scopes & graph.layers.keys()):
            pool += graph.layers[scope].settings.values()
    return pool


def _trials(node: Node, pool: list[ArgumentValue], rank: int) -> list[Trial]:
    """Changes of one argument, other operators, and changes of two arguments."""
    single = list(_changes(node.arguments, pool, rank))[:MOST_TRIALS]
    double = []
    for one, other in combinations(single, 2):
        if one.keys() != other.keys():
            double.append({**one, **other})
    trials = [Trial(node.id, change) for change in (*single, *_usual(node.arguments, single))]
    trials += [Trial(node.id, op=op) for op in _others(node.op)]
    trials += [Trial(node.id, change) for change in double[:MOST_TRIALS]]
    return trials


def _others(op: str) -> list[str]:
    """The operators that may stand in the place of one."""
    # In memory of its own: what is written in place is compared as well.
    plain = op.replace("_.default", ".default")
    return [other for kind in KINDS if plain in kind for other in kind if other != plain]


def _value(graph: GradGraph, node: Node, result: str) -> Output | None:
    """The first output of a node, or the result of that name."""
    if not result:
        return node.outputs[0] if node.outputs else None
    for other in graph.nodes:
        if other.kind == "output" and other.name == result:
            return other.outputs[0]
    return None


def _row(graph: GradGraph, first: str, row: Row | None) -> list[Node]:
    """The ops of a row that begins with ``first``; [] where it is not known which they are.

    Without a row it is that op alone.
    """
    nodes = graph.by_id()
    if row is None or row.count == 1:
        return [nodes[first]]
    if row.end not in nodes:
        return []
    behind = _reached([first], [(edge.origin, edge.target) for edge in graph.edges])
    before = _reached([row.end], [(edge.target, edge.origin) for edge in graph.edges])
    between = (behind & before) - {row.end}
    return [node for node in graph.nodes if node.id in between] + [nodes[row.end]]


def _reached(starts: Iterable[str], steps: Iterable[tuple[str, str]]) -> set[str]:
    """The nodes that are reached from some, and these themselves."""
    following: dict[str, list[str]] = {}
    for origin, target in steps:
        following.setdefault(origin, []).append(target)
    waiting = list(starts)
    reached = set(waiting)
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def _changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> Iterator[Arguments]:
    """Changes of one argument each, those that the other side suggests first."""
    for name, value in own.items():
        if name in FIXED:
            continue
        seen = [value]
        for other in _alternatives(name, value, pool, rank):
            if other not in seen:
                seen.append(other)
                yield {name: other}


def _usual(own: Arguments, tried: list[Arguments]) -> Iterator[Arguments]:
    """Changes of one argument to a value that it often has, but for those that are tried anyway."""
    for name, value in own.items():
        for other in USUAL.get(name, ()):
            if other != value and {name: other} not in tried:
                yield {name: other}


def _alternatives(
    name: str, value: ArgumentValue, pool: Iterable[ArgumentValue], rank: int
) -> Iterator[ArgumentValue]:
    """Other values that an argument may have."""
    if name in FEW_VALUES:
        yield from FEW_VALUES[name]
    elif isinstance(value, bool):
        yield not value
    elif name in AXES and isinstance(value, int):
        yield from range(rank)
    elif name in AXES and isinstance(value, tuple) and value:
        yield from combinations(range(rank), len(value))
    else:
        for other in pool:
            yield from _in_place_of(value, other)


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if isinstance(value, float) and isinstance(other, float):
        yield other
        yield 1 - other  # a momentum the other way round
    elif isinstance(value, int) and isinstance(other, int):
        yield other
    elif isinstance(value, tuple):
        yield from _fitted(other, len(value))


def _fitted(value: ArgumentValue, count: int) -> Iterator[tuple[int, ...]]:
    """A number or a sequence as one of ``count`` numbers: strides of four axes end with those of two."""
    if isinstance(value, int):
        yield (value,) * count
    elif isinstance(value, tuple) and len(value) >= count > 0:
        numbers = [item for item in value if isinstance(item, int)]
        if len(numbers) == len(value):
            yield tuple(numbers[-count:])
