"""The noise of MindSpore's tape: the same call again where it rounds otherwise."""

from collections.abc import Callable
from typing import TypeVar

from explorer.engines.mindspore import tape
from explorer.engines.mindspore.rounding import RandomRounding, SharpRounding, lacking, rounding
from explorer.engines.noise import JITTERS, drawn_leaves, jittered, noisy_graphs, result_noise
from explorer.model.noise import ResultNoise
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

ResultOrCapture = TypeVar("ResultOrCapture", Result, Captured)


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the tape's answer to one case, leaf by leaf."""
    plain = tape.answer(request)
    if plain.outcome != "ok":
        return result_noise(plain, [])
    kinds, has_drawn = _kinds(tape.answer, request)
    drawn = drawn_leaves(plain, tape.answer, request) if has_drawn else ()
    return result_noise(plain, kinds, drawn)


def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph with the noise of every node."""
    plain = tape.capture(request)
    if not plain.graphs:
        return plain
    kinds, has_drawn = _kinds(tape.capture, request)
    # The seed does not make every draw the same: that in nn.MultiheadAttention goes on (2.10.0).
    again = tape.capture(request) if has_drawn else None
    return noisy_graphs(plain, kinds, again)


def _kinds(
    call: Callable[[CaseRequest], ResultOrCapture], request: CaseRequest
) -> tuple[list[list[ResultOrCapture]], bool]:
    """Runs on moved inputs, and one in which the kernels that approximate are right.

    Beside them whether an operator drew random numbers in the former.
    """
    moved = []
    has_drawn = False
    for sample in range(1, JITTERS + 1):
        mode = RandomRounding(sample)
        with rounding(mode):
            moved.append(call(jittered(request, sample)))
        has_drawn |= mode.has_drawn
    return [moved, [_sharp(call, request)]], has_drawn


def _sharp(call: Callable[[CaseRequest], ResultOrCapture], request: CaseRequest) -> ResultOrCapture:
    while True:
        before = lacking()
        with rounding(SharpRounding()):
            answer = call(request)
        # A kernel that lacks float64 has spoilt the run, and is left alone in the next one.
        if lacking() == before:
            return answer
