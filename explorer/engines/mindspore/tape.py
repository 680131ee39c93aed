"""MindSpore's tape style: PYNATIVE_MODE records the forward while it runs, then walks back."""

import mindspore as ms

from explorer.engines.capture.garbage_collection import paused
from explorer.engines.mindspore.answers import answer, derivative, gradient_of, named, weights
from explorer.engines.mindspore.code import code
from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import build, describe, flat, sensitivities
from explorer.engines.mindspore.tape_capture import Recorder
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result
from explorer.model.trees import names_in, render

__all__ = ["answer", "capture", "describe"]


@paused()
def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph, op by op, with the answer that was computed while it was
    watched.
    """
    case = request.case
    shown = code(CaseRequest(request.net, case))
    try:
        sens = (sensitivities(request.net),) if case.sens_param else ()
        net = build(request.net)
        recorder = Recorder(net, request.values)
        call = derivative(
            recorder.watch(net.call, "forward"),
            case,
            weights(net, case),
            lambda inner: recorder.watch(inner, "backward"),
        )
        with recorder, ms.saved_tensors_hooks(recorder.keep, recorder.use):
            real = call(*net.arguments, *sens)
        tree, leaves = named(real, net, case)
        recorder.gradients(names_in(gradient_of(case, tree)), list(flat(gradient_of(case, real))))
    except Exception as error:
        return Captured(
            (), Result(outcome="raised", error=failure(error, request.net.scenario), code=shown)
        )
    graph = recorder.draft.settle("mindspore-tape", case.label, "tape")
    recorder.close()
    result = Result(outcome="ok", structure=tree, natural=render(tree), leaves=leaves, code=shown)
    return Captured((graph,), result)
