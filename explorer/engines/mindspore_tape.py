"""MindSpore's tape style: PYNATIVE_MODE records the forward while it runs, then walks back."""

import mindspore as ms

from explorer.cases import flatten, render
from explorer.engines.collector import paused
from explorer.engines.mindspore_answer import answer, derivative, gradient_of, named, weights
from explorer.engines.mindspore_capture_tape import Recorder
from explorer.engines.mindspore_code import code
from explorer.engines.mindspore_errors import failure
from explorer.engines.mindspore_net import build, describe, flat, sensitivities
from explorer.records import AnswerRequest, Captured, CaptureRequest, Result

__all__ = ["answer", "capture", "describe"]


@paused()
def capture(request: CaptureRequest) -> Captured:
    """The tape of one case as a graph, op by op, with the answer that was computed while it was watched."""
    case = request.case
    shown = code(AnswerRequest(request.net, case))
    try:
        sens = (sensitivities(request.net),) if case.sens_param else ()
        net = build(request.net)
        recorder = Recorder(net, request.values)
        call = derivative(
            recorder.watch(net.call, "forward"), case, weights(net, case), lambda inner: recorder.watch(inner, "backward")
        )
        with recorder, ms.saved_tensors_hooks(recorder.keep, recorder.use):
            real = call(*net.arguments, *sens)
        tree, leaves = named(real, net, case)
        recorder.gradients(flatten(gradient_of(case, tree)), list(flat(gradient_of(case, real))))
    except Exception as error:
        return Captured((), Result(outcome="raised", error=failure(error, request.net.scenario), code=shown))
    graph = recorder.draft.settle("mindspore-tape", case.label, "tape")
    recorder.close()
    text = render(tree)
    return Captured((graph,), Result(outcome="ok", structure=text, natural=text, leaves=leaves, code=shown))
