"""What MindSpore's tape saves and frees, and what its graph keeps; with what other programs share."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.engines.mindspore.dispatch import MsDispatchMode, saved_tensors_hooks
from explorer.engines.mindspore.graph import capture
from explorer.engines.mindspore.net import Net, build, flat, forward
from explorer.engines.mindspore.versions import require
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import taped_operators
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life import liveness
from explorer.topics.tape_life.liveness import PackedTensor, Watch, unpack


def fresh_net(ask: Ask) -> Net:
    """The scenario's net in the style that was asked for."""
    return build(net_request(ask, f"mindspore-{ask.options['style']}"))


def first_output(outputs: Any) -> Any:
    """The first of a net's outputs, which is what is differentiated."""
    return next(flat(outputs))


def gradient_function(call: Any, net: Net, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of ``call`` with respect to all weights of ``net``.

    With respect to the first input where the net has none.
    """
    if net.weights:
        gradient: Callable[..., Any] = ms.grad(call, None, ms.ParameterTuple(net.weights), has_aux)
    else:
        gradient = ms.grad(call, 0, None, has_aux)
    return gradient


def watch_of(net: Net) -> Watch:
    """A watch that tells inputs and parameters from what only the tape keeps."""
    tensors = (*net.arguments, *net.parameters.values())
    return Watch({tensor.data_ptr() for tensor in tensors})


def packing(watch: Watch) -> Callable[[Any], PackedTensor]:
    """The hook that boxes what is saved."""
    return lambda tensor: watch.pack(tensor, tensor.data_ptr(), int(tensor.nbytes))


def settled(watch: Watch) -> dict[str, int]:
    """What is kept now that everything queued has run and everything dropped is gone."""
    # Operators execute asynchronously and hold their operands until then (2.10.0).
    ms.runtime.synchronize()
    gc.collect()
    return watch.kept()


SHAPE_QUERIES = frozenset({"typeof", "sequence_len", "make_range"})
"""What MindSpore dispatches as operators although it only looks at types and shapes (2.10.0)."""


class Steps(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Notes what the tape keeps after every operator."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        require("MsDispatchMode")  # others see nothing of backward
        self.watch = watch

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The result of the operator, with a step noted after it."""
        self.watch.last = func.name
        result = func(*args, **(kwargs or {}))
        # Operators execute asynchronously and hold their operands until then (2.10.0).
        ms.runtime.synchronize()
        self.watch.step(func.name)
        return result


def lifetime(ask: Ask) -> Found:
    """What the tape keeps after every operator of forward and backward.

    Beside it, the tape's nodes, and which operators saved how many tensors.
    """
    net = fresh_net(ask)
    watch = watch_of(net)
    recorded: list[str] = []

    def watched(*inputs: Any) -> Any:
        """The net's first output, looked at while its tape is there."""
        output = first_output(net.call(*inputs))
        recorded.extend(taped_operators(output))
        watch.step("end of forward")
        watch.phase = "backward"
        return output

    with Steps(watch), saved_tensors_hooks(packing(watch), unpack):
        gradient_function(watched, net)(*net.arguments)
        settled(watch)
        watch.step("end of backward")
    steps = [step for step in watch.steps if step["op"] not in SHAPE_QUERIES]
    savers = dict(sorted(watch.savers.items()))
    return Found({"steps": steps, "nodes": recorded, "savers": savers})


def planned(ask: Ask) -> Found:
    """What has to be kept after every operator, read off the compiled gradient graph."""
    # The outputs are counted in tape style, where a forward compiles nothing.
    net = build(net_request(ask, "mindspore-tape"))
    case = liveness.first_output_case(
        has_weights=bool(net.trainable), several_outputs=isinstance(forward(net), tuple)
    )
    # With values, since only what kernels dump shows how large a workspace is at run time.
    request = CaseRequest(net_request(ask, "mindspore-graph"), case, values=True)
    graph = liveness.captured_graph(capture(request))
    return Found({"steps": liveness.steps(graph), "savers": liveness.savers(graph)})


def freeing(ask: Ask) -> Found:
    """Saved tensors and bytes that are alive at each moment of one call of a gradient function."""
    net = fresh_net(ask)
    watch = watch_of(net)
    moments: dict[str, Any] = {}
    outputs: list[Any] = []

    def watched(*inputs: Any) -> Any:
        """The net's first output, which outlives the call of the gradient function."""
        output = first_output(net.call(*inputs))
        outputs.append(output)
        moments["inside the call, after the forward"] = alive(output, watch)
        return output

    with saved_tensors_hooks(packing(watch), unpack):
        gradient_function(watched, net)(*net.arguments)
    moments["after the call, the loss kept"] = alive(outputs[0], watch)
    outputs.clear()
    # Nodes are found from an output: without one nothing says how many are alive.
    moments["after the call, the loss dropped"] = settled(watch)
    return Found(moments)


def alive(output: Any, watch: Watch) -> dict[str, int]:
    """How many nodes behind ``output`` and how many saved tensors are alive now."""
    return {"nodes": len(taped_operators(output)), **settled(watch)}


def forward_alone(ask: Ask) -> Found:
    """What one forward leaves behind: by itself, and inside a gradient function.

    The latter with and without ``_no_grad``.
    """
    require("Tensor._grad_node")  # here, since a compiled net's source may not
    by_itself = fresh_net(ask)
    inside = fresh_net(ask)
    unrecorded = fresh_net(ask)
    # What has left no tape may have no gradient either, and a compiler may not take the switch.
    under_no_grad = attempt(left_in_gradient, ask, unrecorded, BehindUnrecorded(unrecorded.call))
    return Found(
        {
            "by itself": left_behind(ask, by_itself, Behind(by_itself.call), plainly),
            "inside a gradient": left_in_gradient(ask, inside, Behind(inside.call)),
            "inside a gradient, under _no_grad": under_no_grad,
            "mindspore._no_grad": hasattr(ms, "_no_grad"),
            "mindspore.no_grad": hasattr(ms, "no_grad"),
        }
    )


class Behind(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A net's first output, and the operators on the tape behind it.

    Asked inside the forward, in both styles: a compiled output has no tape (2.10.0), and says so.
    """

    def __init__(self, net: Any) -> None:
        # Without a prefix of its own the parameters keep their names.
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, *inputs: Any) -> Any:
        """The first output, with the names of the operators behind it beside it."""
        output = self.net(*inputs)
        if isinstance(output, tuple):
            output = output[0]
        return output, taped_operators(output)


class BehindUnrecorded(Behind):
    """The same of a net that is called under ``_no_grad``."""

    def construct(self, *inputs: Any) -> Any:
        """The first output, with the names of the operators behind it beside it."""
        with ms._no_grad():
            output = self.net(*inputs)
        if isinstance(output, tuple):
            output = output[0]
        return output, taped_operators(output)


def left_in_gradient(ask: Ask, net: Net, behind: Behind) -> dict[str, int | None]:
    """What the forward of a net leaves that a gradient function calls."""
    return left_behind(ask, net, behind, partial(gradient_function, has_aux=True))


def plainly(forward: Callable[..., Any], net: Net) -> Callable[..., Any]:
    """The forward itself, where no gradient is asked for."""
    return forward


def left_behind(
    ask: Ask,
    net: Net,
    behind: Behind,
    called: Callable[[Callable[..., Any], Net], Callable[..., Any]],
) -> dict[str, int | None]:
    """How many nodes and saved tensors a forward leaves, when it ends.

    ``called`` makes of the forward what calls it. In graph style None stands for the saved tensors:
    a compiled net saves without calling the hooks that count them (2.10.0), so what it saves cannot
    be observed there.
    """
    watch = watch_of(net)
    kept: list[int] = []

    def watched(*inputs: Any) -> Any:
        """The forward; its backward may save tensors of its own, which are none of it."""
        outcome = behind(*inputs)
        kept.append(settled(watch)["tensors"])
        return outcome

    # A compiler would compile the look at the tape too.
    forward = watched if ask.options["style"] == "tape" else behind
    with saved_tensors_hooks(packing(watch), unpack):
        # First the output or its gradients, then the operators; has_aux puts a tuple around these.
        _, operators = called(forward, net)(*net.arguments)
    if isinstance(operators, tuple):
        (operators,) = operators
    return {"nodes": len(operators), "saved": kept[0] if kept else None}
