"""The noise of MindSpore's tape: the same call again where it rounds otherwise."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import msgspec

from explorer.engines.mindspore import tape
from explorer.engines.mindspore.rounding import RandomRounding, SharpRounding, lacking, rounding
from explorer.engines.mindspore.versions import has, lacks
from explorer.engines.noise import (
    UNMOVED,
    Run,
    drawn_leaves,
    moved_runs,
    noisy_graphs,
    result_noise,
    returned_outputs,
)
from explorer.model.arrays import AnyArray
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result, ResultNoise


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the tape's answer to one case, leaf by leaf."""
    plain = tape.answer(request)
    if not has("MsDispatchMode"):
        # What the net returns says whether it is the net that another framework has.
        outputs = returned_outputs(plain, request.case)
        return ResultNoise(error=lacks("MsDispatchMode").failure, outputs=outputs)
    if plain.outcome != "ok":
        return result_noise(plain, [])
    moved, has_drawn = moved_runs(tape.answer, request, randomly)
    drawn: tuple[str, ...] = ()
    if has_drawn:
        drawn = drawn_leaves(plain, tape.answer, request)
    noise = result_noise(plain, [moved, [_sharp(tape.answer, request)]], drawn)
    return msgspec.structs.replace(noise, outputs=returned_outputs(plain, request.case))


def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph with the noise of every node."""
    if not has("MsDispatchMode"):
        error = lacks("MsDispatchMode").failure
        return Captured((), Result(outcome="unsupported", error=error))
    plain = tape.capture(request)
    if not plain.graphs:
        return plain
    moved, has_drawn = moved_runs(tape.capture, request, randomly)
    kinds = [moved, [_sharp(tape.capture, request)]]
    again = None
    if has_drawn:
        # The seed does not make every draw the same: that in nn.MultiheadAttention goes on (2.10.0).
        again = tape.capture(request)
    return noisy_graphs(plain, kinds, again)


def randomly(sample: int, steps: Sequence[AnyArray] = ()) -> AbstractContextManager[RandomRounding]:
    """The random rounding of a number, in force."""
    return rounding(RandomRounding(sample, steps))


def _sharp(call: Callable[[CaseRequest], Run], request: CaseRequest) -> Run:
    """A run in which the kernels that approximate are right."""
    steps: Sequence[AnyArray] = ()
    while True:
        before = lacking()
        with rounding(SharpRounding(steps)) as mode:
            answer = call(request)
        if mode.steps and not steps:
            with randomly(UNMOVED) as unmoved:
                call(request)
            steps = unmoved.steps
            continue
        # A kernel that lacks float64 has spoilt the run, and is left alone in the next one.
        if lacking() == before:
            return answer
