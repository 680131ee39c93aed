"""The noise of MindSpore's tape: the same call again where it rounds otherwise."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from explorer.engines.mindspore import tape
from explorer.engines.mindspore.rounding import CoarseRounding, SharpRounding, lacking, rounding
from explorer.engines.noise import JITTERS, noisy_graphs, result_noise
from explorer.model.noise import ResultNoise
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

Answer = TypeVar("Answer", Result, Captured)


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the tape's answer to one case, leaf by leaf."""
    plain = tape.answer(request)
    kinds = _kinds(tape.answer, request) if plain.outcome == "ok" else []
    return result_noise(plain, kinds)


def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph with the noise of every node."""
    plain = tape.capture(request)
    kinds = _kinds(tape.capture, request) if plain.graphs else []
    return noisy_graphs(plain, kinds)


def _kinds(call: Callable[[CaseRequest], Answer], request: CaseRequest) -> list[list[Answer]]:
    """Runs on moved inputs, and one in which the kernels that approximate are right."""
    moved = []
    for sample in range(1, JITTERS + 1):
        net = msgspec.structs.replace(request.net, jitter=sample)
        with rounding(CoarseRounding(sample)):
            moved.append(call(msgspec.structs.replace(request, net=net)))
    return [moved, [_sharp(call, request)]]


def _sharp(call: Callable[[CaseRequest], Answer], request: CaseRequest) -> Answer:
    while True:
        before = lacking()
        with rounding(SharpRounding()):
            answer = call(request)
        # A kernel that lacks float64 has spoilt the run, and is left alone in the next one.
        if lacking() == before:
            return answer
