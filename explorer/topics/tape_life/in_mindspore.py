"""MindSpore's side of the study of the tape's life, in tape style and in graph style."""

import gc
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.answers import answer
from explorer.engines.mindspore.graph import capture
from explorer.engines.mindspore.net import Net, build, flat, forward
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.starting_values import net_request
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.lifetime import (
    Box,
    Watch,
    captured_graph,
    crossing,
    first_alone,
    plain_leaves,
    savers,
)


class Steps(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Notes what the tape keeps after every operator."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.watch.last = func.name
        result = func(*args, **(kwargs or {}))
        ms.runtime.synchronize()  # operators are queued, and what they no longer need is let go behind the program's back
        self.watch.step(func.name)
        return result


class FirstAlone(nn.Cell):  # type: ignore[misc]  # likewise
    """A net without its further outputs."""

    def __init__(self, net: Any) -> None:
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, x, y):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  # the compiler reads no annotations
        loss, _ = self.net(x, y)
        return loss


class ExtraStopped(FirstAlone):
    """A net whose second output no gradient passes."""

    def construct(self, x, y):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  # likewise
        loss, extra = self.net(x, y)
        return loss, ops.stop_gradient(extra)


def lifetime(ask: Ask) -> Found:
    """What the tape keeps after every operator of forward and backward, its nodes, and which
    operators saved how many tensors.
    """
    net = made(ask)
    watch = watching(net)
    recorded: list[str] = []

    def watched(*inputs: Any) -> Any:
        outputs = net.call(*inputs)
        loss = next(flat(outputs))
        recorded.extend(names_behind(loss._grad_node))
        watch.step("end of forward")
        watch.phase = "backward"
        return loss

    with Steps(watch), ms.saved_tensors_hooks(packing(watch), unpacked):
        by_weights(watched, net)(*net.arguments)
        settled(watch)
        watch.step("end of backward")
    steps = [step for step in watch.steps if step["op"] not in SHAPES]
    return Found(
        {"steps": steps, "nodes": sorted(recorded), "savers": dict(sorted(watch.savers.items()))}
    )


def planned(ask: Ask) -> Found:
    """What has to be kept after every operator, read off the compiled gradient graph."""
    net = build(net_request(ask, "mindspore-tape"))
    case = first_alone(net.trainable, isinstance(forward(net), tuple))
    graph = captured_graph(
        capture(CaseRequest(net_request(ask, "mindspore-graph"), case, values=False))
    )
    return Found({"steps": crossing(graph), "savers": savers(graph)})


def freeing(ask: Ask) -> Found:
    """Saved tensors and bytes that are alive at each moment of one call of a gradient function."""
    net = made(ask)
    watch = watching(net)
    found: dict[str, Any] = {}
    kept: list[Any] = []

    def watched(*inputs: Any) -> Any:
        kept.append(next(flat(net.call(*inputs))))
        found["inside the call, after the forward"] = {
            "nodes": len(names_behind(kept[0]._grad_node)),
            **settled(watch),
        }
        return kept[0]

    with ms.saved_tensors_hooks(packing(watch), unpacked):
        by_weights(watched, net)(*net.arguments)
    found["after the call, the loss kept"] = {
        "nodes": len(names_behind(kept[0]._grad_node)),
        **settled(watch),
    }
    kept.clear()
    found["after the call, the loss dropped"] = {"nodes": 0, **settled(watch)}
    return Found(found)


def forward_alone(ask: Ask) -> Found:
    """What one forward leaves behind: by itself, and inside a gradient function, with and without
    ``_no_grad``.
    """
    found: dict[str, Any] = {}
    for label in ("by itself", "inside a gradient", "inside a gradient, under _no_grad"):
        net = made(ask)
        watch = watching(net)
        seen: list[Any] = []
        call = recorded_call(net, watch, seen, without=label.endswith("_no_grad"))
        with ms.saved_tensors_hooks(packing(watch), unpacked):
            attempt(call if label == "by itself" else by_weights(call, net), *net.arguments)
        found[label] = seen[0] if seen else {"nodes": 0, "saved": len(watch.boxes)}
    return Found(
        {
            **found,
            "mindspore._no_grad": hasattr(ms, "_no_grad"),
            "mindspore.no_grad": hasattr(ms, "no_grad"),
        }
    )


def called_again(ask: Ask) -> Found:
    """One gradient function called three times; and what a tensor or parameter has of PyTorch's
    ways to a second backward.
    """
    net = made(ask)
    gradient = by_weights(net.call, net, aux=True)
    grads = [numbers(gradient(*net.arguments)[0]) for _ in range(3)]
    loss = next(flat(forward(made(ask))))
    absent = {
        "loss.backward": attempt(getattr, loss, "backward"),
        "weight.grad": attempt(getattr, net.weights[0], "grad"),
    }
    return Found(
        {
            "gradients": grads,
            **{
                name: found if isinstance(found, dict) else str(found)
                for name, found in absent.items()
            },
        }
    )


def reused(ask: Ask) -> Found:
    """One function made by ``grad``, called with several values and shapes."""
    set_style(ask.options["style"], ask.device)
    gradient = ms.grad(nets.cubes)
    inputs = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]])
    results = [numbers(gradient(ms.Tensor(np.array(values, np.float32)))) for values in inputs]
    return Found({"callable": callable(gradient), "inputs": list(inputs), "gradients": results})


def cut_off(ask: Ask) -> Found:
    """The derivative of x³ with ``stop_gradient`` or ``_no_grad`` around x²."""
    set_style(ask.options["style"], ask.device)
    programs = {"plain": nets.cubes, "stop_gradient": stopped, "_no_grad": without_recording}
    return Found({label: attempt(own, call) for label, call in programs.items()})


def in_place(ask: Ask) -> Found:
    """The gradient when what is needed for it is changed in place."""
    set_style(ask.options["style"], ask.device)
    return Found(
        {"result": attempt(own, nets.changed_result), "operand": attempt(own, nets.changed_operand)}
    )


def hooks(ask: Ask) -> Found:
    """The gradient with a hook on a tensor that doubles it, and the order in which a tape calls
    hooks of several kinds.
    """
    set_style(ask.options["style"], ask.device)
    doubled = attempt(own, nets.hooked)
    return Found(
        {"doubled": doubled, "order": order_of_hooks()}
        if ask.options["style"] == "tape"
        else {"doubled": doubled}
    )


def order_of_hooks() -> list[str]:
    """The hooks of one backward through a dense layer, in the order in which they were called."""
    order: list[str] = []
    layer = nn.Dense(2, 1, has_bias=False)
    layer.register_backward_pre_hook(lambda *_: order.append("module, before its backward"))
    layer.register_backward_hook(lambda *_: order.append("module, after its backward"))
    layer.weight.register_hook(lambda _: order.append("leaf"))

    def call(x: Any) -> Any:
        y = layer(x)
        y.register_hook(lambda _: order.append("tensor"))
        return y.sum()

    ms.grad(call, None, ms.ParameterTuple([layer.weight]))(ms.Tensor(np.ones((1, 2), np.float32)))
    return order


def extra_output(ask: Ask) -> Found:
    """The weights' gradient when an extra output is differentiated along, left out, stopped, or set
    aside with ``has_aux``.
    """
    found: dict[str, Any] = {}
    wraps: dict[str, Callable[[Any], Any]] = {
        "first output alone": FirstAlone,
        "extra output stopped": ExtraStopped,
    }
    for label in ("every output", "has_aux", *wraps):
        net = made(ask)
        call = wraps[label](net.call) if label in wraps else net.call
        result = by_weights(call, net, aux=label == "has_aux")(*net.arguments)
        found[label] = numbers(next(flat(result)))
    return Found(found)


def answers(ask: Ask) -> Found:
    """The engine's own answers to a scenario's gradient by each input."""
    net = net_request(ask, f"mindspore-{ask.options['style']}")
    return Found(
        {
            f"by {name}": plain_leaves(answer(CaseRequest(net, GradCase("grad", place))))
            for place, name in enumerate("ab")
        }
    )


# What the measurements share

SHAPES = frozenset({"typeof", "sequence_len", "make_range"})
"""What MindSpore dispatches as operators although it only looks at types and shapes (2.10.0)."""


def made(ask: Ask) -> Net:
    """The scenario's net in the style that was asked for."""
    return build(net_request(ask, f"mindspore-{ask.options.get('style', 'tape')}"))


def by_weights(call: Any, net: Net, aux: bool = False) -> Callable[..., Any]:
    """The gradient function by all weights, or by the first input of a net without any."""
    asked = (None, ms.ParameterTuple(net.weights)) if net.weights else (0, None)
    made: Callable[..., Any] = ms.grad(call, *asked, aux)
    return made


def watching(net: Net) -> Watch:
    """A watch that tells inputs and parameters from what only the tape keeps."""
    return Watch({tensor.data_ptr() for tensor in (*net.arguments, *net.parameters.values())})


def packing(watch: Watch) -> Any:
    """The hook that boxes what is saved."""
    return lambda tensor: watch.pack(tensor, tensor.data_ptr(), int(tensor.nbytes))


def unpacked(box: Box) -> Any:
    """The hook that takes a tensor out again."""
    return box.tensor


def settled(watch: Watch) -> dict[str, int]:
    """What is kept now, when everything queued has run and everything dropped is gone."""
    ms.runtime.synchronize()
    gc.collect()
    return watch.kept()


def recorded_call(net: Net, watch: Watch, seen: list[Any], without: bool) -> Callable[..., Any]:
    """The net, noting in ``seen`` how many nodes and saved tensors its forward has left;
    ``without`` recording if asked.
    """

    def call(*inputs: Any) -> Any:
        if without:
            with ms._no_grad():
                outputs = net.call(*inputs)
        else:
            outputs = net.call(*inputs)
        loss = next(flat(outputs))
        seen.append({"nodes": len(names_behind(loss._grad_node)), "saved": len(watch.boxes)})
        return loss

    return net.call if ms.get_context("mode") == ms.GRAPH_MODE else call


def names_behind(root: Any) -> list[str]:
    """The operators on a tape; its nodes are known by their numbers, since the objects are made
    anew at every access (2.10.0).
    """
    seen, waiting, names = set(), [root], []
    while waiting:
        node = waiting.pop()
        if node is not None and node._unique_id() not in seen:
            seen.add(node._unique_id())
            waiting.extend(child for child, _ in node.next_functions)
            names += [] if node.is_leaf() else [node.name()]
    return names


def stopped(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  # compiled from this source
    """x³ with x² behind ``stop_gradient``: x² is the derivative."""
    return (ops.stop_gradient(x * x) * x).sum()


def without_recording(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  # likewise
    """x³ with x² computed under ``_no_grad``: x² is the derivative."""
    with ms._no_grad():
        square = x * x
    return (square * x).sum()


def own(call: Any) -> Any:
    """The derivative of a program of the study's own at [0, 1, 2]."""
    return numbers(ms.grad(call)(ms.Tensor(np.array([0, 1, 2], np.float32))))
