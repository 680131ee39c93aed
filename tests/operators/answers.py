"""What a worker answers to one call, and the loop of a worker."""

import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.operators.settings import Array, Call
from tests.operators.signatures import Parameters, exists, signature_of


class Answer(NamedTuple):
    """Results, gradients of operands and of weights, the state after, and the weights' own names."""

    outputs: list[Array]
    operands: dict[str, list[Array]]
    weights: dict[str, Array]
    after: dict[str, Array]
    own_names: frozenset[str] = frozenset()


class Raised(NamedTuple):
    """What a call raised."""

    text: str


def weight(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """The numbers of one weight, the same in both nets."""
    rng = np.random.default_rng([seed, len(name), *shape])
    values = rng.normal(size=shape) * 0.5
    return np.abs(values) + 0.5 if "var" in name else values


def cotangents(shapes: list[tuple[int, ...]], seed: int) -> list[Array]:
    """Factors of the results in the sum that is differentiated."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def flat(results: Any) -> list[Any]:
    """The tensors of a result, as a flat list."""
    if not isinstance(results, tuple | list):
        return [results]
    return [tensor for result in results if result is not None for tensor in flat(result)]


def _outcome(answer: Callable[[Call], Answer], call: Call) -> Answer | Raised:
    try:
        return answer(call)
    except Exception as error:  # the test shows whatever it is
        return Raised(f"{type(error).__name__}: {error}"[:500])


class Asked(NamedTuple):
    """What a worker is asked: calls to answer, and names of callables and operators to look up."""

    calls: list[Call]
    callables: Sequence[str] = ()
    operators: Sequence[str] = ()


class Answered(NamedTuple):
    """What a worker answers: to each call; the signatures of callables, and whether operators are there."""

    answers: list[Answer | Raised]
    signatures: dict[str, list[Parameters]]
    operators: dict[str, bool]


def work(answer: Callable[[Call], Answer]) -> None:
    """Answer what stands in the file that the first argument names, into the second."""
    asked: Asked = pickle.loads(Path(sys.argv[1]).read_bytes())
    answered = Answered(
        [_outcome(answer, call) for call in asked.calls],
        {name: signature_of(name) for name in asked.callables},
        {name: exists(name) for name in asked.operators},
    )
    Path(sys.argv[2]).write_bytes(pickle.dumps(answered))
