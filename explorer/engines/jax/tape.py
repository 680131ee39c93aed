"""JAX, tape style: each operation runs as Python reaches it, and jax.vjp keeps what backward needs."""

import jax

from explorer.engines.jax.answers import answered
from explorer.engines.jax.captures import captured, replayed, result_of, whole_arguments
from explorer.engines.jax.code import code
from explorer.engines.jax.errors import failed
from explorer.engines.jax.gradient_calls import (
    Question,
    outputs_of,
    pulled,
    question,
    transformed,
)
from explorer.engines.jax.net import Net, built, describe, forward
from explorer.engines.jax.recording import Recording
from explorer.engines.jax.tape_recorder import Recorder
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

__all__ = ["answer", "capture", "describe", "recorded", "replay"]


STAGE = "tape"


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    try:
        with built(request.net) as net:
            asked = question(net, request.case, forward(net))
            return answered(request, asked, transformed(asked))
    except Exception as error:
        return failed(request, error, code(request))


def capture(request: CaseRequest) -> Captured:
    """The operations of one case as a graph, and the answer, which was computed by them."""
    return captured(request, STAGE, recorded, _as_recorded)


def _as_recorded(
    request: CaseRequest, asked: Question, recording: Recording
) -> tuple[tuple[GradGraph, ...], Result]:
    return (), result_of(request, asked, recording)


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from its recorded operations, run in another order."""
    return replayed(request, recorded)


def recorded(request: CaseRequest, net: Net) -> tuple[Question, Recording]:
    """What a case asks, and the operations that answer it; raises what the net raises."""
    asked = question(net, request.case, forward(net))
    recorder = Recorder()
    for name, value in net.inputs.items():
        recorder.add_array(value, "input", name)
    for name, value in net.parameters.items():
        recorder.add_array(value, "parameter", name)
    given = whole_arguments(asked)
    for seed in jax.tree.leaves(given[0]):
        recorder.add_array(seed, "constant", "seed", "backward")
    with recorder.running():
        value, aux, cotangents = pulled(asked)(*given)
    recording = recorder.recording
    outputs = {} if request.case.order > 1 else dict(outputs_of(asked, value, aux))
    gradients = dict(zip(net.leaves(request.case), asked.gradients(cotangents), strict=True))
    recording.results = {**outputs, **gradients}
    recording.outputs = {name: recorder.origin(it) for name, it in outputs.items()}
    recording.set_gradients({name: recorder.origin(it) for name, it in gradients.items()})
    return asked, recording
