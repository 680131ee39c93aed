"""What MindSpore's programs about the tape's life share: nets, gradient functions, hooks.

The hooks watch what a tape saves.
"""

import gc
from collections.abc import Callable
from typing import Any

import mindspore as ms

from explorer.engines.mindspore.net import Net, build, flat
from explorer.model.measurement import Ask
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life.watch import PackedTensor, Watch


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
