"""JAX, tape style: each operation runs as Python reaches it, and jax.vjp keeps what backward needs."""

from typing import Any

import jax

from explorer.engines.capture.lint import latest_first
from explorer.engines.jax.answers import answered, result
from explorer.engines.jax.code import code
from explorer.engines.jax.errors import failed
from explorer.engines.jax.gradient_calls import (
    Question,
    outputs_of,
    pulled,
    question,
    seeds,
    transformed,
)
from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import Net, built, describe, forward
from explorer.engines.jax.recording import Recording
from explorer.engines.jax.tape_recorder import Recorder
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
    with built(request.net) as net:
        try:
            asked, recording = recorded(request, net)
            found = result_of(request, asked, recording)
        except Exception as error:
            return Captured((), failed(request, error, code(request)))
        graph = RecordedGradGraph(recording, net, values=request.values, is_pruned=False)
        if request.proves:
            graph.prove(request.prove == "all")
        return Captured((graph.record("jax-tape", request.case.label, STAGE),), found)


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from its recorded operations, run in another order.

    The order is one that the graph's edges allow.
    """
    try:
        with built(request.net) as net:
            asked, recording = recorded(request, net)
            return replayed(request, asked, recording, is_pruned=False)
    except Exception as error:
        return failed(request, error)


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


def whole_arguments(asked: Question) -> tuple[Any, ...]:
    """The arguments of the call that is recorded: the cotangents first; raises what JAX refuses."""
    if asked.is_refused:
        transformed(asked)(*asked.arguments)
    return seeds(asked), *asked.arguments


def replayed(
    request: CaseRequest, asked: Question, recording: Recording, *, is_pruned: bool
) -> Result:
    """The result of a case whose operations are run once more, the latest first that is ready."""
    graph = RecordedGradGraph(recording, asked.net, values=False, is_pruned=is_pruned)
    numbers = {node: number for number, node in graph.nodes.items()}
    order = [
        numbers[place]
        for place in latest_first(graph.record(request.net.engine, request.case.label, ""))
        if place in numbers
    ]
    leaves = {**asked.net.parameters, **asked.net.inputs}
    return result_of(request, asked, recording.run_again(leaves, order))


def result_of(request: CaseRequest, asked: Question, recording: Recording) -> Result:
    """The result of a case as its recorded operations yielded it."""
    outputs = {name: recording.result(name, origin) for name, origin in recording.outputs.items()}
    gradients = [recording.result(name, origin) for name, origin in recording.gradients.items()]
    return result(request, asked, outputs, gradients)
