"""What is tried where two ops give different values for equal inputs.

It is guessed freely, from what the other side's ops and layers were given: each guess is tried, and only
one that gives the other side's value is a cause.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import msgspec

from explorer.compare.input_trials import input_changes, tensors_read
from explorer.compare.kinds import (
    AXES,
    FEW_VALUES,
    FIXED,
    KINDS,
    LAST,
    POSITIONS,
    USUAL,
    WINDOW_NAMES,
    WINDOWS,
)
from explorer.compare.lone_leaves import without_leaf
from explorer.compare.paddings import padded
from explorer.compare.related import constants_read, next_op, row_between, row_from
from explorer.compare.row_trials import exchanged, members
from explorer.model.causes import LEFT_OUT, Trial
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherValue,
    ResultElsewhere,
    Row,
)
from explorer.model.engines import ENGINES
from explorer.model.families import family
from explorer.model.graph import (
    OTHER,
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
    """What two graphs have at a divergence: one op or several in a row of ``here``, and of ``there``.

    What differs is their first output, or the ``result`` of that name which they make.
    """

    side: SideName
    here: GradGraph
    there: GradGraph
    own_row: list[Node]
    row: list[Node]
    result: str


def suspects_at(divergence: Divergence, left: GradGraph, right: GradGraph) -> tuple[Suspect, ...]:
    """What can be tried at a divergence, what PyTorch has there before what MindSpore has."""
    both = _ends(divergence, left, right)
    suspects = [_suspect(ends) for ends in sorted(both, key=lambda it: not _is_of_torch(it.here))]
    suspects += [_in_other_order(ends) for ends in both]
    if isinstance(divergence, LoneLeaf):
        suspects += _without_leaf(divergence, left, right)
    return tuple(suspect for suspect in suspects if suspect is not None)


def _suspect(ends: _Ends) -> Suspect | None:
    """What can be tried at one end of a divergence; None where nothing can."""
    last = ends.own_row[-1]
    own = _value(ends.here, last, ends.result)
    target = _value(ends.there, ends.row[-1], ends.result)
    if own is None or target is None:
        return None
    first, *others = ends.own_row
    trials: list[Trial] = []
    for node, then in members(ends.own_row):
        rank = _rank(ends.here, node)
        tried = _trials(ends.here, node, _pool(ends), rank, is_alone=not then and node is first)
        if len(ends.own_row) > 1:
            tried.append(Trial(node.id, op=LEFT_OUT))
        else:
            tried += padded(node, tensors_read(ends.here, node), target)
        trials += [msgspec.structs.replace(trial, then=then) for trial in tried]
    if not trials:
        return None
    unchanged = Trial(first.id, then=tuple(node.id for node in others))
    return Suspect(ends.side, last, ends.row[-1], own, target, (unchanged, *trials))


def _in_other_order(ends: _Ends) -> Suspect | None:
    """Two ops in the opposite order, where the other side has them so."""
    found = exchanged(ends.here, ends.own_row[0], ends.there, ends.row)
    if found is None:
        return None
    trials, node, other = found
    own, target = _value(ends.here, node, ""), _value(ends.there, other, "")
    if own is None or target is None:
        return None
    return Suspect(ends.side, node, other, own, target, (Trial(node.id), *trials))


def _without_leaf(divergence: LoneLeaf, left: GradGraph, right: GradGraph) -> Iterator[Suspect]:
    """What reads a leaf that one side alone has, beside the ops that may do the same without it."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    for user, other, trial in without_leaf(divergence, here, there):
        own, target = _value(here, user, ""), _value(there, other, "")
        if own is not None and target is not None:
            yield Suspect(divergence.side, user, other, own, target, (Trial(user.id), trial))


def _ends(divergence: Divergence, left: GradGraph, right: GradGraph) -> list[_Ends]:
    """The ops of both sides, which can be computed again, and what the other one has instead."""
    result = ""
    rows: tuple[Row | None, Row | None] = (None, None)
    if isinstance(divergence, OtherValue):
        rows = divergence.rows
    elif isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    elif isinstance(divergence, ExtraOps):
        return _with_one_more(divergence, left, right)
    else:
        return []
    first, second = divergence.nodes
    if first is None or second is None:
        return []
    ours, theirs = row_from(left, first, rows[0]), row_from(right, second, rows[1])
    if not ours or not theirs:
        return []
    both = [
        _Ends("left", left, right, ours, theirs, result),
        _Ends("right", right, left, theirs, ours, result),
    ]
    if len(ours) == len(theirs) == 1 and not result:
        both += [longer for longer in map(_with_what_follows, list(both)) if longer]
    return both


def _with_what_follows(ends: _Ends) -> _Ends | None:
    """An op with what is behind it, up to an op of the kind that the other side has at once."""
    node, other = ends.own_row[0], ends.row[0]
    if family(node.op) == family(other.op):
        return None
    behind = next_op(ends.here, node)
    if behind is None or family(behind.op) != family(other.op):
        return None
    return ends._replace(own_row=[node, *row_between(ends.here, node.id, behind.id)])


def _with_one_more(divergence: ExtraOps, left: GradGraph, right: GradGraph) -> list[_Ends]:
    """An op that one side alone has, with the op behind it, and that of the other side in its place.

    The two are of one kind, in one module.
    """
    here, there = (left, right) if divergence.side == "left" else (right, left)
    first = divergence.nodes[0 if divergence.side == "left" else 1]
    if first is None:
        return []
    node = here.by_id()[first]
    behind = next_op(here, node)
    if divergence.goes_on is not None:
        return _ahead_there(divergence, here, there, node)
    if behind is None or divergence.row.count > 1:
        return []
    like = [
        other
        for other in there.nodes
        if other.kind == "op"
        and other.phase == behind.phase
        and (other.scope, family(other.op)) == (behind.scope, family(behind.op))
        and [it.shape for it in other.outputs[:1]] == [it.shape for it in behind.outputs[:1]]
    ]
    if len(like) != 1:
        return []
    return [_Ends(divergence.side, here, there, [node, behind], like, "")]


def _ahead_there(
    divergence: ExtraOps, here: GradGraph, there: GradGraph, node: Node
) -> list[_Ends]:
    """Two ops of the other side in the order in which this side has them the other way round.

    ``node`` is the last of the row that this side has before the op with which the other goes on.
    """
    wanted, behind = divergence.goes_on, next_op(here, node)
    if wanted is None or behind is None:
        return []
    for other in there.nodes:
        if (other.op, other.source[:1]) == (wanted.label, (wanted.source,)):
            row = [*_row_up_to(here, node, divergence.row.count), behind]
            return [_Ends(OTHER[divergence.side], there, here, [other], row, "")]
    return []


def _row_up_to(graph: GradGraph, last: Node, count: int) -> list[Node]:
    """The ops of a row that ends with a node."""
    nodes = graph.by_id()
    row = [last]
    while len(row) < count:
        before = [nodes[edge.origin] for edge in graph.edges if edge.target == row[0].id]
        ops = [node for node in before if node.kind == "op" and node.phase == last.phase]
        if len(ops) != 1:
            break
        row.insert(0, ops[0])
    return row


def _is_of_torch(graph: GradGraph) -> bool:
    return ENGINES[graph.engine].framework == "torch"


def _rank(graph: GradGraph, node: Node) -> int:
    """The most axes of what a node reads and yields."""
    nodes = graph.by_id()
    read = [nodes[edge.origin] for edge in graph.edges if edge.target == node.id]
    shapes = [output.shape for one in (node, *read) for output in one.outputs[:1]]
    return max(map(len, shapes), default=0)


def _pool(ends: _Ends) -> list[ArgumentValue]:
    """What the ops of the other side and the layers of both sides were given, constants too."""
    pool: list[ArgumentValue] = []
    for node in ends.row:
        pool += node.arguments.values()
    pool += constants_read(ends.there, ends.row)
    scopes = {node.scope for node in (*ends.row, *ends.own_row)}
    for graph in (ends.there, ends.here):
        for scope in sorted(scopes & graph.layers.keys()):
            pool += graph.layers[scope].settings.values()
    return pool


def _trials(
    graph: GradGraph, node: Node, pool: list[ArgumentValue], rank: int, *, is_alone: bool
) -> list[Trial]:
    """Changes of one argument, other operators, changed inputs, and changes of two arguments.

    Of an op that is not alone there, but one of a row: changes of one argument, and other operators.
    """
    single = list(_changes(node.arguments, pool, rank))[:MOST_TRIALS]
    double = []
    for one, other in combinations(single, 2):
        if one.keys() != other.keys():
            double.append({**one, **other})
    # A window and its padding go together, also in an op with others behind it.
    windows = [change for change in double if change.keys() <= WINDOW_NAMES]
    double = [change for change in double if change not in windows]
    trials = [Trial(node.id, change) for change in (*single, *_usual(node.arguments, single))]
    trials += [Trial(node.id, op=op) for op in _others(node.op)]
    trials += [Trial(node.id, change) for change in windows[:MOST_TRIALS]]
    if not is_alone:
        return trials
    trials += [Trial(node.id, inputs=(change,)) for change in input_changes(graph, node)]
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
        for count in (len(value), *range(1, rank + 1)):
            yield from combinations(range(rank), count)
    else:
        if name in POSITIONS and isinstance(value, int):
            yield from (value - 1, value + 1)
            yield from (LAST, -1) if name == "end" else ()
        for other in pool:
            yield from _in_place_of(value, other)
        if isinstance(value, tuple):
            yield from ((number,) * len(value) for number in WINDOWS.get(name, ()))
        if name == "pad" and isinstance(value, tuple):
            yield from _other_ends(value)


def _other_ends(pad: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Padding of the ends of axes with the two ends of each exchanged, or half of it at each."""
    pairs = list(zip(pad[::2], pad[1::2], strict=False))
    numbers = [number for pair in pairs for number in pair[::-1] if isinstance(number, int)]
    yield tuple(numbers)
    sums = [sum(it for it in pair if isinstance(it, int)) for pair in pairs]
    yield tuple(number for total in sums for number in (total // 2, total - total // 2))
    yield tuple(number for total in sums for number in (total - total // 2, total // 2))


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if value is None or other is None:
        if isinstance(value, float) or isinstance(other, float):
            yield other
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
