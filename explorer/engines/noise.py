"""How far results and nodes of an engine move between runs that round otherwise."""

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray, Summary, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node, Output, Slot, with_outputs
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Leaf, LeafNoise, Result, ResultNoise
from explorer.model.trees import Branch, names_in
from explorer.numeric.differences import Floats, elementwise_difference, real_parts
from explorer.numeric.summaries import FAR_LESS, LEAST_OF_ONE, rounded_masks

Run = TypeVar("Run", Result, Captured)

JITTERS = 3
"""The number of runs with other inputs and parameters.

A tensor of one element gets its level from these alone. Both sides are added up: that a level
is ten times too low by luck has a probability of 1e-5.
"""

UNMOVED = 0
"""The number of a rounding that moves nothing."""

DRAWS = 8
"""The greatest number of runs with other random numbers.

A dropout that drops one element in ten of six leaves all of them alone in every second run.
"""


# Results


def result_noise(
    plain: Result, kinds: Iterable[Sequence[Result]], drawn: tuple[str, ...] = ()
) -> ResultNoise:
    """The noise of a result, from ``kinds`` of further runs of the same case.

    Kinds are independent causes: their mean squares are added. A run without such an answer is left
    out. ``drawn`` names the leaves that depend on random numbers.
    """
    if plain.outcome != "ok":
        return ResultNoise(error=plain.error)
    squares = [np.zeros_like(_real(unpack(leaf.value))) for leaf in plain.leaves]
    has_the_same_leaves = functools.partial(_has_the_same_leaves, plain)
    count = 0
    for runs in kinds:
        alike = list(filter(has_the_same_leaves, runs))
        count += len(alike)
        for run in alike:
            for index, movement in enumerate(_movements(plain, run)):
                squares[index] = squares[index] + movement**2 / len(alike)
    leaves = []
    for leaf, square in zip(plain.leaves, squares, strict=True):
        leaves.append(LeafNoise(leaf.name, pack(np.sqrt(square).astype(np.float32))))
    return ResultNoise(tuple(leaves), count, drawn=drawn)


def drawn_leaves(
    plain: Result, answer: Callable[[CaseRequest], Result], request: CaseRequest
) -> tuple[str, ...]:
    """The leaves of a result that depend on random numbers, of a net that draws some.

    They are other ones, or of another shape, where the net draws other numbers from the same start.
    """
    drawn: set[str] = set()
    for draw in range(1, DRAWS + 1):
        net = msgspec.structs.replace(request.net, draw=draw)
        run = answer(msgspec.structs.replace(request, net=net))
        for leaf, other in zip(plain.leaves, run.leaves, strict=False):
            if leaf != other:
                drawn.add(leaf.name)
        if len(drawn) == len(plain.leaves):
            break
    return tuple(leaf.name for leaf in plain.leaves if leaf.name in drawn)


def _has_the_same_leaves(plain: Result, run: Result) -> bool:
    if run.outcome != "ok" or run.structure != plain.structure:
        return False
    for leaf, other in zip(plain.leaves, run.leaves, strict=True):
        if leaf.value.shape != other.value.shape:
            return False
    return True


def _movements(plain: Result, run: Result) -> Iterable[Floats]:
    """How far each element of each leaf moved; infinitely where it became finite, or ceased to."""
    for leaf, other in zip(plain.leaves, run.leaves, strict=True):
        one, another = unpack(leaf.value), unpack(other.value)
        yield elementwise_difference(_real(one), _real(another))


def _jittered(request: CaseRequest, sample: int) -> CaseRequest:
    """The request for the same case on inputs and parameters that are moved a little."""
    net = msgspec.structs.replace(request.net, jitter=sample)
    return msgspec.structs.replace(request, net=net)


def moved_runs(
    call: Callable[[CaseRequest], Run],
    request: CaseRequest,
    rounding: Callable[..., AbstractContextManager[Any]],
) -> tuple[list[Run], bool]:
    """Runs of a case on moved inputs, each within ``rounding`` of its number.

    Beside them whether an operator drew random numbers: ``rounding`` gives a mode that notes it, and
    ``steps``, what operators such as floor yielded. At their steps rounding decides between numbers that
    are far apart, and noise would excuse all that follows: they yield what they do where nothing is moved.
    """
    runs = []
    has_drawn = False
    for sample in range(1, JITTERS + 1):
        asked = _jittered(request, sample)
        with rounding(sample) as mode:
            run = call(asked)
        if mode.steps:
            with rounding(UNMOVED) as unmoved:
                call(asked)
            with rounding(sample, unmoved.steps) as mode:
                run = call(asked)
        runs.append(run)
        has_drawn |= mode.has_drawn
    return runs, has_drawn


def returned_outputs(plain: Result, case: GradCase) -> tuple[Leaf, ...]:
    """The outputs of the net, of a case that returns them before its gradients."""
    tree = plain.structure
    if plain.outcome != "ok" or case.api != "value_and_grad" or not isinstance(tree, Branch):
        return ()
    names = names_in(tree.parts[0])
    return tuple(leaf for leaf in plain.leaves if leaf.name in names)


# Nodes


MOST_EXAMPLES = 64
"""Of values with more examples along their first axis it is not kept how far each moves."""


def noisy_graphs(
    plain: Captured, kinds: Iterable[Sequence[Captured]], again: Captured | None = None
) -> Captured:
    """The last graph of a capture, with the noise of every output whose values were observed.

    ``kinds`` are as in result_noise. There is no graph where none was captured, or no run went the
    same way. ``again`` is the very same once more, of a net that draws random numbers: what is not
    the same then was drawn anew, in all runs, and its noise is not known.
    """
    if not plain.graphs:
        return plain
    graph = plain.graphs[-1]
    squares: dict[Slot, Floats] = {}
    count = 0
    for runs in kinds:
        alike = _alike(graph, runs)
        count += len(alike)
        for other in alike:
            for slot, movements in _node_movements(graph, other).items():
                with np.errstate(over="ignore"):
                    squares[slot] = squares.get(slot, 0.0) + movements**2 / len(alike)
    if not count:
        return Captured((), plain.result)
    if again:
        for other in _alike(graph, [again]):
            for slot, movements in _node_movements(graph, other).items():
                if movements[0]:
                    squares.pop(slot, None)
    noisy = with_outputs(graph, functools.partial(_with_noise, squares))
    return Captured((noisy,), plain.result)


def _alike(graph: GradGraph, runs: Sequence[Captured]) -> list[GradGraph]:
    """The last graphs of the runs that went the same way."""
    alike: list[GradGraph] = []
    for run in runs:
        last = run.graphs[-1:]
        if last and _has_the_same_nodes(graph, last[0]):
            alike += last
    return alike


def _with_noise(squares: dict[Slot, Floats], slot: Slot, output: Output) -> Output:
    noise, *levels = np.sqrt(squares.get(slot, np.array([np.inf]))).tolist()
    # An example of which nothing is known moves as all do.
    levels = [level if np.isfinite(level) else noise for level in levels]
    if not np.isfinite(noise):
        noise = None
    elif any(level * FAR_LESS < noise for level in levels):
        output = msgspec.structs.replace(output, levels=tuple(levels))
    return msgspec.structs.replace(output, noise=noise)


def _has_the_same_nodes(graph: GradGraph, other: GradGraph) -> bool:
    """Whether node k is node k: a net that branches on values may take another way."""
    return list(map(_form, graph.nodes)) == list(map(_form, other.nodes))


def _form(node: Node) -> tuple[str, list[tuple[int, ...]]]:
    return node.op, [output.shape for output in node.outputs]


def _node_movements(graph: GradGraph, other: GradGraph) -> dict[Slot, Floats]:
    movements = {}
    for node, moved in zip(graph.nodes, other.nodes, strict=True):
        for slot, (output, value) in enumerate(zip(node.outputs, moved.outputs, strict=True)):
            if output.values is not None and value.values is not None:
                movements[node.id, slot] = _summary_movements(output.values, value.values, output)
    return movements


def _summary_movements(one: Summary, other: Summary, output: Output) -> Floats:
    """The root mean square by which elements moved, and then that of each example.

    Of a large tensor it is that of its order statistics, and of no example. Masks are left out, whose
    own rounding would hide all else, and elements that became finite, or ceased to be. It is infinite
    where no other is left: then nothing is known.
    """
    is_whole = one.whole is not None and other.whole is not None
    if one.whole is not None and other.whole is not None:
        left, right = unpack(one.whole), unpack(other.whole)
    else:
        # The figures by which two large tensors are compared: the noise of just these counts.
        left, right = np.array(one.quantiles), np.array(other.quantiles)
    if left.shape != right.shape:
        return np.array([np.inf])
    if not left.size:
        return np.zeros(1)
    movement = elementwise_difference(_real(left), _real(right))
    masks = rounded_masks(_real(left), movement, output.dtype)
    movements = [_mean_movement(movement, masks)]
    if is_whole and left.ndim > 1 and len(left) <= MOST_EXAMPLES and left[0].size >= LEAST_OF_ONE:
        movements += map(_mean_movement, movement, masks)
    return np.array(movements)


def _mean_movement(movement: Floats, masks: NDArray[np.bool_]) -> float:
    finite = np.isfinite(movement)
    counted = movement[finite & ~masks]
    if not counted.size:
        return 0.0 if finite.all() else float("inf")
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean(counted**2)))


def _real(array: AnyArray) -> Floats:
    """An array as float64; a complex one as its real and imaginary parts."""
    return real_parts(array).astype(np.float64)
