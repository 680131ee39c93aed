"""MindSpore's tape style: PYNATIVE_MODE records the forward while it runs, then walks back."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

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
from explorer.engines.mindspore.dispatch import saved_tensors_hooks
from explorer.engines.mindspore.net import build, describe, flat
from explorer.engines.mindspore.proof import RecordedCall
from explorer.engines.mindspore.state import changed_state, start_of_state
from explorer.engines.mindspore.tape_recorder import Recorder
from explorer.engines.mindspore.versions import has, lacks
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Leaf
from explorer.model.state import StateChange
from explorer.model.trees import Tree, names_in
from explorer.workers.garbage_collection import paused

__all__ = ["answer", "capture", "describe"]


@paused()
def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph, op by op, and the answer that was computed meanwhile."""
    if not has("Tensor._grad_node"):
        plain = answer(request)
        reason = plain.error or lacks("Tensor._grad_node").failure
        return Captured((), msgspec.structs.replace(plain, error=reason))
    try:
        run = _record(request)
    except Exception as error:
        return Captured((), failed(request, error))
    # Not within the try above: what goes wrong here is no exception of the net's.
    graph = run.recorder.record(request.case.label)
    return Captured((graph,), answered(request, run.tree, run.leaves), run.state)


def recorded_calls(request: CaseRequest, nodes: Iterable[str]) -> dict[str, RecordedCall]:
    """The operators of some nodes of the graph that a capture gives, by the ids of these."""
    recorder = _record(request).recorder
    calls = recorder.calls_of(nodes)
    recorder.record(request.case.label)  # which lets go of the tensors
    return calls


class _Recorded(NamedTuple):
    """A gradient computation that was recorded: its result by name, and what it changed."""

    recorder: Recorder
    tree: Tree
    leaves: tuple[Leaf, ...]
    state: tuple[StateChange, ...]


def _record(request: CaseRequest) -> _Recorded:
    """Compute the gradient of a case and record it; raises what the net raises."""
    case = request.case
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
    with recorder, saved_tensors_hooks(recorder.pack, recorder.unpack):
        value = gradient_function(*net.arguments, *cotangents)
    tree, leaves = named(value, net, case)
    gradients = list(flat(gradient_of(case, value)))
    recorder.finish(names_in(gradient_of(case, tree)), gradients)
    return _Recorded(recorder, tree, leaves, changed_state(net, before))
