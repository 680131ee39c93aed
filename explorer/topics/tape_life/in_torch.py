"""What PyTorch's programs about the tape's life share: nets, hooks, and joint graphs.

The hooks watch what a tape saves.
"""

from collections.abc import Callable
from typing import Any

import torch

from explorer.engines.torch.joint_graph import Joint, derive
from explorer.engines.torch.net import Net, bare, build, flat, forward
from explorer.engines.torch.roots import FirstOutput
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life.watch import PackedTensor, Watch


def fresh_net(ask: Ask) -> Net:
    """The scenario's net; one without weights is differentiated with respect to its inputs."""
    net = build(net_request(ask, "torch-tape"))
    if not net.trainable:
        for argument in net.arguments:
            # Labels and indices are integers, which cannot require a gradient.
            argument.requires_grad_(argument.is_floating_point())
    return net


def first_output(net: Net) -> torch.Tensor:
    """The first of the outputs of one forward, which is what is differentiated."""
    return next(flat(forward(net)))


def first_weight(net: Net) -> torch.Tensor:
    """The first trainable parameter."""
    return net.state[net.trainable[0]]


def watch_of(net: Net) -> Watch:
    """A watch that tells inputs and parameters from what only the tape keeps."""
    tensors = (*net.arguments, *net.state.values())
    # By storages: a saved view of a weight costs nothing that the weight does not cost.
    return Watch({tensor.untyped_storage().data_ptr() for tensor in tensors})


def packing(watch: Watch) -> Callable[[torch.Tensor], PackedTensor]:
    """The hook that boxes what is saved."""

    def pack(tensor: torch.Tensor) -> PackedTensor:
        """The box of one tensor."""
        storage = tensor.untyped_storage()
        # Detached: a node that kept its own result would be kept by the result's grad_fn in turn.
        return watch.pack(tensor.detach(), storage.data_ptr(), storage.nbytes())

    return pack


def joint_graph(ask: Ask, net: Net) -> Joint:
    """The joint graph of the first output of ``net``, which is the scenario's."""
    # Another net is run to see what it returns: a forward may move statistics.
    returns_one = bare(forward(fresh_net(ask)))
    return derive(net.call if returns_one else FirstOutput(net.call), net.arguments)


def joint_arguments(joint: Joint, net: Net) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """What a joint graph takes: parameters and inputs, and ones for its outputs."""
    primals = []
    for kind, name in joint.inputs:
        if kind == "tangent":  # joint.tangents makes these
            continue
        tensor = net.state[name] if kind == "parameter" else net.arguments[name]
        primals.append(tensor.detach())
    return primals, joint.tangents(GradCase("grad", None, "all"), primals[0].device)


def joint_gradients(
    joint: Joint, primals: list[torch.Tensor], tangents: list[torch.Tensor]
) -> list[Any]:
    """The gradients among the results of a joint graph."""
    outputs, gradients = joint.module(primals, tangents)
    results = zip(joint.outputs, (*outputs, *gradients), strict=True)
    return [value for (kind, _), value in results if kind == "gradient" and value is not None]
