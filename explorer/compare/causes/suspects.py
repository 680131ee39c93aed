"""What is tried where two ops give different values for equal inputs.

It is guessed freely, from what the other side's ops and layers were given: each guess is tried, and only
one that gives the other side's value is a cause.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from explorer.compare.causes.argument_trials import argument_changes
from explorer.compare.causes.input_trials import input_changes, label_of, rearranged
from explorer.compare.causes.kinds import REDUCTIONS, SELECT
from explorer.compare.causes.lone_leaves import without_leaf
from explorer.compare.causes.longer_rows import longer_ends
from explorer.compare.causes.nearly_equal import inputs_of_there
from explorer.compare.causes.other_leaves import leaves_of, of_other_leaves, other_constants
from explorer.compare.causes.paddings import padded
from explorer.compare.causes.places import Ends, ends_at
from explorer.compare.causes.related import constants_read
from explorer.compare.causes.rooms import are_equal, numbers_of
from explorer.compare.causes.row_trials import exchanged, members
from explorer.compare.causes.slices import elsewhere
from explorer.compare.flow import Flow
from explorer.correspondence.table import alternatives
from explorer.model.causes import LEFT_OUT, InputChange, Trial
from explorer.model.divergence import Divergence, LoneLeaf
from explorer.model.engines import engine_named
from explorer.model.families import family
from explorer.model.graph import Arguments, ArgumentValue, Node, Output, SideName


class Suspect(NamedTuple):
    """An op that can be computed in other ways, its own value, and the one that it should then have.

    ``other`` is the op of the other side. ``trials`` begin with none that changes anything; those of a later
    op of a row as well: where other values were put in, it does not read what the row makes. What gives
    one of the values ``further`` on there does as well: the other side may come to it in more ops.
    Operators that are ``not_there``, each in the place of an op, may give the value, and are no cause.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    trials: tuple[Trial, ...]
    further: tuple[Output, ...] = ()
    not_there: frozenset[tuple[str, str]] = frozenset()


FURTHER = 16
"""So many values of the other side behind a divergence are looked at."""


def of_one_step(suspect: Suspect, flow: Flow) -> Suspect:
    """A suspect that is not tried with what another step of a loop gave in the place of an input."""
    lines = {(read.op, read.source) for read in flow.origins(suspect.node) if read.kind == "op"}

    def is_of_other_step(change: InputChange) -> bool:
        node = flow.nodes.get(change.node) if change.how == "replaced" else None
        return node is not None and (node.op, node.source) in lines

    trials = [trial for trial in suspect.trials if not any(map(is_of_other_step, trial.inputs))]
    return suspect._replace(trials=tuple(trials))


def suspects_at(divergence: Divergence, left: Flow, right: Flow) -> tuple[Suspect, ...]:
    """What can be tried at a divergence, what PyTorch has there before what MindSpore has."""
    both = ends_at(divergence, left, right)
    suspects = [_suspect(ends) for ends in sorted(both, key=lambda it: not _is_of_torch(it.here))]
    suspects += [_in_other_order(ends) for ends in both]
    suspects += [_suspect(ends) for ends in longer_ends(divergence, both, left, right)]
    if isinstance(divergence, LoneLeaf):
        suspects += _without_leaf(divergence, left, right)
    return tuple(suspect for suspect in suspects if suspect is not None)


def _suspect(ends: Ends) -> Suspect | None:
    """What can be tried at one end of a divergence; None where nothing can."""
    last = ends.own_row[-1]
    own = _value(ends.here, last, ends.result)
    target = _value(ends.there, ends.row[-1], ends.result)
    if own is None or target is None:
        return None
    if ends.is_extra:
        trials = list(_started_at_zeros(ends))
    elif ends.is_state:
        trials = list(_of_a_state(ends))
    elif len(ends.own_row) > 1:
        trials = list(_in_a_row(ends))
    else:
        trials = list(_alone(ends, target))
    if not trials:
        return None
    first, *others = ends.own_row
    then = tuple(node.id for node in others)
    unchanged = Trial(first.id, then=then, is_state=ends.is_state)
    has_further = not (ends.is_extra or ends.result)
    further = tuple(islice(_further(ends, own, target), FURTHER)) if has_further else ()
    not_there = _not_there(ends, trials)
    return Suspect(
        ends.side, last, ends.row[-1], own, target, (unchanged, *trials), further, not_there
    )


def _further(ends: Ends, own: Output, target: Output) -> Iterator[Output]:
    """What the other side makes of its first op, as large as an op's own value, the nearest first.

    What is known here is no such value: with an op left out, or nothing changed, that is given too.
    """
    known = [own, *(it for node in ends.own_row for it in ends.here.tensors(node).values())]
    for value in _behind(ends):
        if value.shape != own.shape or value is target:
            continue
        if not any(are_equal(value, other) for other in known):
            yield value


def _behind(ends: Ends) -> Iterator[Output]:
    """The values of the ops that follow on the other side, in their order."""
    # Where both sides do the same last, the other side's steps ahead of it are its own.
    does_the_same = family(ends.own_row[-1].op) == family(ends.row[-1].op)
    first = ends.row[-1 if does_the_same else 0]
    behind = ends.there.behind(first.id)
    for node in ends.there.graph.nodes:
        if node.id in behind and node.kind == "op" and node.phase == first.phase and node.outputs:
            yield node.outputs[0]


def _alone(ends: Ends, target: Output) -> Iterator[Trial]:
    """An op with one argument changed, another operator, changed inputs, and two arguments changed."""
    (node,) = ends.own_row
    changes = argument_changes(node.arguments, _pool(ends), _rank(ends.here, node))
    for change in (*changes.single, *_elsewhere(ends.here, node)):
        yield Trial(node.id, change)
    yield from _left_out(ends, node)
    yield from _other_operators(node)
    for change in changes.windows:
        yield Trial(node.id, change)
    for input_change in input_changes(ends.here, node):
        if input_change.how != "replaced" or not _is_done_behind(ends):
            yield Trial(node.id, inputs=(input_change,))
    other_leaves = of_other_leaves(ends.here, node, ends.there, ends.row)
    if other_leaves:
        yield Trial(node.id, inputs=other_leaves)
    if len(ends.row) == 1:
        for input_change in other_constants(ends.here, node, ends.there, ends.row[0]):
            yield Trial(node.id, inputs=(input_change,))
    for change in changes.double:
        yield Trial(node.id, change)
    as_there = inputs_of_there(ends, target)
    if as_there:
        yield Trial(node.id, inputs=as_there)
        for change in changes.single:
            if all(isinstance(value, float) for value in change.values()):
                yield Trial(node.id, change, inputs=as_there)
    shape = ends.here.own_shape(node, target.shape)
    yield from padded(node, ends.here.own_shapes(node), shape)


def _in_a_row(ends: Ends) -> Iterator[Trial]:
    """Each op of a row changed or left out, and those behind it computed again."""
    ways = list(members(ends.own_row))
    for node, then in ways[:1] if ends.first_alone else ways:
        if node is not ends.own_row[0]:
            yield Trial(node.id, then=then)
        changes = argument_changes(node.arguments, _pool(ends), _rank(ends.here, node))
        single = (*changes.single, *_elsewhere(ends.here, node))
        trials = [Trial(node.id, change) for change in (*single, *changes.windows)]
        trials += [*_other_operators(node), *_left_out(ends, node)]
        trials += [Trial(node.id, inputs=(change,)) for change in _with_zeros(ends.here, node)]
        trials += [Trial(node.id, inputs=(it,)) for it in _with_leaves_elsewhere(ends.here, node)]
        for trial in trials:
            yield msgspec.structs.replace(trial, then=then)


def _elsewhere(flow: Flow, node: Node) -> Iterator[Arguments]:
    """A slice at other places of what it reads."""
    read = flow.own_shapes(node).get(0)
    if read is not None and node.outputs:
        yield from elsewhere(node, read, flow.own_shape(node, node.outputs[0].shape))


def _of_a_state(ends: Ends) -> Iterator[Trial]:
    """Ops that write to one state: other arguments of all of them, and the first ones left out."""
    first, *others = ends.own_row
    then = tuple(node.id for node in others)
    changes = argument_changes(first.arguments, _pool(ends), _rank(ends.here, first))
    for change in changes.single:
        yield Trial(first.id, change, then=then, then_arguments=change, is_state=True)
    yield Trial(first.id, op=LEFT_OUT, then=then, is_state=True)


def _left_out(ends: Ends, node: Node) -> Iterator[Trial]:
    """An op left out: what is behind it goes on with one of the tensors that the op reads.

    Not where the other side has as many of its kind: near 0 many an op hands on what it reads.
    """
    own, others = (_count(node.op, row) for row in (ends.own_row, ends.row))
    if node.outputs and own > others:
        for place, read in enumerate(ends.here.tensors(node).values()):
            if math.prod(read.shape) == math.prod(node.outputs[0].shape):
                yield Trial(node.id, op=LEFT_OUT, hands_on=place)


def _count(op: str, row: list[Node]) -> int:
    """How many ops of a row are of an operator's kind."""
    return sum(family(it.op) == family(op) for it in row)


def _started_at_zeros(ends: Ends) -> Iterator[Trial]:
    """Zeros in the place of what a state starts at: what hands on what it reads, another op does as well."""
    for node, then in members(ends.own_row):
        for change in _with_zeros(ends.here, node):
            yield Trial(node.id, inputs=(change,), then=then)


def _with_zeros(flow: Flow, node: Node) -> Iterator[InputChange]:
    """Zeros in the place of numbers that a value, such as a state, starts at."""
    for edge in flow.into(node):
        origin = flow.nodes[edge.origin]
        is_filled = origin.kind == "op" and family(origin.op) == "fill" and origin.outputs
        numbers = numbers_of(origin.outputs[0]) if is_filled else None
        if numbers is not None and numbers.any():
            yield InputChange((edge.input,), "from_zeros", label=label_of(origin))


OF_WEIGHTS = frozenset({"matmul", "conv", "convgrad"})
"""Families of ops that read a weight, which may lie in another layout."""


def _with_leaves_elsewhere(flow: Flow, node: Node) -> Iterator[InputChange]:
    """The weight of a product or a convolution with its elements elsewhere."""
    if family(node.op) not in OF_WEIGHTS:
        return
    leaves = leaves_of(flow, [node])
    for slot, read in flow.tensors(node).items():
        if slot in leaves:
            yield from rearranged(slot, read.shape)


def _is_done_behind(ends: Ends) -> bool:
    """Whether the op behind is of the same kind, and none is there: it may be what the other side has."""
    here, there = ends.own_row[-1], ends.row[-1]
    behind, behind_there = ends.here.next_op(here), ends.there.next_op(there)
    if behind is None or not family(behind.op) == family(here.op) == family(there.op):
        return False
    return behind_there is None or family(behind_there.op) != family(here.op)


def _not_there(ends: Ends, trials: Iterable[Trial]) -> frozenset[tuple[str, str]]:
    """The ops, each with an operator tried in its place, of whose kind the other side has as many.

    And of the operator's kind none: beside zeros a sum is a difference.
    """
    kinds = {node.id: node.op for node in ends.own_row}
    return frozenset(
        (trial.node, trial.op)
        for trial in trials
        if trial.op not in ("", LEFT_OUT)
        and trial.node in kinds
        and _count(kinds[trial.node], ends.own_row) <= _count(kinds[trial.node], ends.row)
        and _count(trial.op, ends.row) == 0
    )


def _other_operators(node: Node) -> Iterator[Trial]:
    """The operators that may stand in the place of an op."""
    # In memory of its own: what is written in place is compared as well.
    plain = node.op.replace("_.default", ".default")
    yield from (Trial(node.id, op=other) for other in alternatives(plain))
    axes = node.arguments.get("dim")
    if plain in REDUCTIONS and isinstance(axes, tuple) and len(axes) == 1:
        for index in (0, -1):
            yield Trial(node.id, {"dim": axes[0], "index": index}, op=SELECT)


def _in_other_order(ends: Ends) -> Suspect | None:
    """Two ops in the opposite order, where the other side has them so."""
    found = exchanged(ends.here, ends.own_row, ends.there, ends.row)
    if found is None:
        return None
    return _suspect_of(ends.side, found.second, found.other_second, found.trials)


def _without_leaf(divergence: LoneLeaf, left: Flow, right: Flow) -> Iterator[Suspect | None]:
    """What reads a leaf that one side alone has, beside the ops that may do the same without it."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    for user, other, trial in without_leaf(divergence, here, there):
        yield _suspect_of(divergence.side, user, other, [trial])


def _suspect_of(side: SideName, node: Node, other: Node, trials: list[Trial]) -> Suspect | None:
    """An op beside one of the other side, by their first outputs."""
    if not (node.outputs and other.outputs):
        return None
    values = node.outputs[0], other.outputs[0]
    return Suspect(side, node, other, *values, (Trial(node.id), *trials))


def _is_of_torch(flow: Flow) -> bool:
    return engine_named(flow.graph.engine).framework == "torch"


def _rank(flow: Flow, node: Node) -> int:
    """The most axes of what a node reads and yields."""
    outputs = [output for one in (node, *flow.origins(node)) for output in one.outputs[:1]]
    return max((len(output.shape) for output in outputs), default=0)


def _pool(ends: Ends) -> list[ArgumentValue]:
    """What the ops of the other side and the layers of both sides were given, constants too."""
    pool: list[ArgumentValue] = []
    for node in ends.row:
        pool += node.arguments.values()
    pool += constants_read(ends.there, ends.row)
    scopes = {node.scope for node in (*ends.row, *ends.own_row)}
    for flow in (ends.there, ends.here):
        layers = flow.graph.layers
        for scope in sorted(scopes & layers.keys()):
            pool += layers[scope].settings.values()
    return pool


def _value(flow: Flow, node: Node, result: str) -> Output | None:
    """The main output of a node, or the result of that name."""
    if not result:
        return node.main
    for other in flow.graph.nodes:
        if other.kind == "output" and other.name == result:
            return other.outputs[0]
    return None
