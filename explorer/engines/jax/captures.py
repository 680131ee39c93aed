"""What both engines of JAX do with a gradient whose operations were recorded."""

from collections.abc import Callable
from typing import Any

from explorer.engines.capture.lint import latest_first
from explorer.engines.jax.answers import result
from explorer.engines.jax.code import code
from explorer.engines.jax.errors import failed
from explorer.engines.jax.gradient_calls import Question, seeds, transformed
from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import Net, built
from explorer.engines.jax.recording import Recording
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

Recorded = Callable[[CaseRequest, Net], tuple[Question, Recording]]
"""Records a case on a net: what is asked, and the operations that answer it; raises what the net raises."""

Answer = Callable[[CaseRequest, Question, Recording], tuple[tuple[GradGraph, ...], Result]]
"""The answer to a case that was recorded, and graphs of other stages of the program."""


def whole_arguments(asked: Question) -> tuple[Any, ...]:
    """The arguments of the call that is recorded: the cotangents first; raises what JAX refuses."""
    if asked.is_refused:
        transformed(asked)(*asked.arguments)
    return seeds(asked), *asked.arguments


def captured(request: CaseRequest, stage: str, recorded: Recorded, answer: Answer) -> Captured:
    """The graph of one case, and the answer."""
    with built(request.net) as net:
        try:
            asked, recording = recorded(request, net)
            others, found = answer(request, asked, recording)
        except Exception as error:
            return Captured((), failed(request, error, code(request)))
        graph = RecordedGradGraph(recording, str(net.scenario.path), values=request.values)
        if request.proves:
            graph.prove(request.prove == "all")
        drawn = graph.record(request.net.engine, request.case.label, stage)
        return Captured((*others, drawn), found)


def replayed(request: CaseRequest, recorded: Recorded) -> Result:
    """The result of a case whose operations are run once more, the latest first that is ready.

    The order is one that the graph's edges allow.
    """
    try:
        with built(request.net) as net:
            asked, recording = recorded(request, net)
            graph = RecordedGradGraph(recording, str(net.scenario.path), values=False)
            numbers = graph.records_by_id()
            drawn = graph.record(request.net.engine, request.case.label, "")
            ids = [drawn.nodes[place].id for place in latest_first(drawn)]
            order = [numbers[node] for node in ids if node in numbers]
            leaves = {**net.parameters, **net.inputs}
            return result_of(request, asked, recording.run_again(leaves, order))
    except Exception as error:
        return failed(request, error)


def result_of(request: CaseRequest, asked: Question, recording: Recording) -> Result:
    """The result of a case as its recorded operations yielded it."""
    outputs = {name: recording.result(name, origin) for name, origin in recording.outputs.items()}
    gradients = [recording.result(name, origin) for name, origin in recording.gradients.items()]
    return result(request, asked, outputs, gradients)
