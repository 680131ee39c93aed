"""MindSpore's tape style: PYNATIVE_MODE records the forward while it runs, then walks back."""

import mindspore as ms

from explorer.engines.mindspore.answers import (
    answer,
    answered,
    cotangent_arguments,
    derivative,
    failed,
    gradient_of,
    named,
    weights,
)
from explorer.engines.mindspore.net import build, describe, flat
from explorer.engines.mindspore.state import changed_state, start_of_state
from explorer.engines.mindspore.tape_recorder import Recorder
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.model.trees import names_in
from explorer.workers.garbage_collection import paused

__all__ = ["answer", "capture", "describe"]


@paused()
def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph, op by op, and the answer that was computed meanwhile."""
    case = request.case
    try:
        cotangents = cotangent_arguments(request)
        net = build(request.net)
        before = start_of_state(net)
        recorder = Recorder(net, request.values, request.prove if request.proves else "none")
        gradient_function = derivative(
            recorder.watch(net.call, "forward"),
            case,
            weights(net, case),
            wrap=lambda inner: recorder.watch(inner, "backward"),
        )
        with recorder, ms.saved_tensors_hooks(recorder.pack, recorder.unpack):
            value = gradient_function(*net.arguments, *cotangents)
        tree, leaves = named(value, net, case)
        gradients = list(flat(gradient_of(case, value)))
        recorder.finish(names_in(gradient_of(case, tree)), gradients)
        state = changed_state(net, before)
    except Exception as error:
        return Captured((), failed(request, error))
    # Not within the try above: what goes wrong here is no exception of the net's.
    graph = recorder.record(case.label)
    return Captured((graph,), answered(request, tree, leaves), state)
