"""What PyTorch's tape saves and frees, and what its graph keeps; with what other programs share."""

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.graph import capture
from explorer.engines.torch.joint_graph import Joint, derive
from explorer.engines.torch.net import Net, bare, build, flat, forward
from explorer.engines.torch.roots import FirstOutput
from explorer.engines.torch.versions import offered
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.in_torch import operator_nodes, tape_nodes, taped_operators
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life import liveness
from explorer.topics.tape_life.liveness import PackedTensor, Watch, unpack


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


PARTITIONERS = {
    "as written": default_partition,
    "least memory": min_cut_rematerialization_partition,
}
"""The ways in which PyTorch 2.13 cuts a joint graph into forward and backward.

One hands over what the backward reads, the other has it compute again what is cheap.
"""

ENDINGS: dict[str, dict[str, bool]] = {
    "backward": {},
    "backward(retain_graph=True)": {"retain_graph": True},
}
"""How a backward is called after which tapes are looked at, and its options."""


class Steps(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Notes what the tape keeps after every operator."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The result of the operator, with a step noted after it."""
        result = func(*args, **(kwargs or {}))
        # The packing hook and AccumulateGrad detach what they keep: no operators of the net (2.13).
        if func is not torch.ops.aten.detach.default:
            self.watch.step(str(func))
        return result


class Tag:
    """Lives as long as the tape node that it is hung on."""


def lifetime(ask: Ask) -> Found:
    """What the tape keeps after every operator of forward and backward.

    Beside it, the tape's nodes, and which of them save how many tensors.
    """
    net = fresh_net(ask)
    watch = watch_of(net)
    with torch.autograd.graph.saved_tensors_hooks(packing(watch), unpack):
        with Steps(watch):
            output = first_output(net)
        watch.step("end of forward")
        watch.phase = "backward"
        recorded = taped_operators(output)
        with Steps(watch):
            output.backward()
        # As MindSpore's gradient function does with its own: a tape hangs on its output.
        del output
        watch.step("end of backward")
    return Found({"steps": watch.steps, "nodes": recorded, "savers": savers(ask)})


def savers(ask: Ask) -> dict[str, int]:
    """How many tensors the nodes of a tape save, by name; nodes that save none are left out."""
    # On a net without saved-tensor hooks: a look at a field would run the unpacking hook (2.13).
    output = first_output(fresh_net(ask))
    counts: Counter[str] = Counter()
    for node in tape_nodes(output):
        counts[node.name()] += saved_tensors(node)
    return dict(sorted((+counts).items()))


def saved_tensors(node: Any) -> int:
    """How many tensors a node has saved, counted by its fields."""
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return sum(isinstance(getattr(node, name), torch.Tensor) for name in names)


def freeing(ask: Ask) -> Found:
    """Nodes, saved tensors and bytes that are alive at each moment of the tape's life."""
    moments: dict[str, Any] = {}
    for ending, options in ENDINGS.items():
        net = fresh_net(ask)
        watch = watch_of(net)
        with torch.autograd.graph.saved_tensors_hooks(packing(watch), unpack):
            output = first_output(net)
        tags = tagged(output)
        # Both tapes begin alike, so the second moment of this name replaces the first.
        moments["after the forward"] = alive(tags, watch)
        output.backward(**options)
        moments[f"after {ending}"] = alive(tags, watch)
        # The tape hangs on its output; what refers to itself on the way goes with a collection.
        del output
        gc.collect()
        moments[f"after {ending}, the outputs dropped"] = alive(tags, watch)
    return Found(moments)


def tagged(output: torch.Tensor) -> list["weakref.ref[Tag]"]:
    """Weak references that die with the nodes of the tape behind ``output``."""
    references = []
    for node in operator_nodes(output):
        # The Python object of a node dies with the last look at it; what is in its metadata stays.
        tag = Tag()
        node.metadata["tag"] = tag
        references.append(weakref.ref(tag))
    return references


def alive(tags: list["weakref.ref[Tag]"], watch: Watch) -> dict[str, int]:
    """How many nodes and saved tensors are alive now."""
    return {"nodes": sum(tag() is not None for tag in tags), **watch.kept()}


def planned(ask: Ask) -> Found:
    """What has to be kept after every operator, read off the joint graph.

    Beside it, what two ways of cutting the graph in two hand over.
    """
    net = fresh_net(ask)
    case = liveness.first_output_case(
        has_weights=bool(net.trainable), several_outputs=not bare(forward(net))
    )
    # Sizes are read off shapes, so no value needs to be computed.
    request = CaseRequest(net_request(ask, "torch-graph"), case, values=False)
    graph = liveness.captured_graph(capture(request))
    return Found(
        {
            "steps": liveness.steps(graph),
            "savers": liveness.savers(graph),
            "between": {name: handed_over(ask, name) for name in PARTITIONERS},
        }
    )


def handed_over(ask: Ask, partitioner: str) -> dict[str, int]:
    """How many tensors and bytes a joint graph's forward half hands to its backward half.

    ``partitioner`` is one of PARTITIONERS, the ways of cutting the graph.
    """
    net = fresh_net(ask)
    joint = joint_graph(ask, net)
    outputs = sum(kind in {"output", "state"} for kind, _ in joint.outputs)
    forward_half, _ = PARTITIONERS[partitioner](
        joint.module, joint_arguments(joint, net), num_fwd_outputs=outputs
    )

    # The forward's half returns the net's outputs first, then what the backward's half takes.
    results = offered("output_node")(forward_half.graph).args[0]
    # What is no node of the graph (None, a number) hands no tensor over.
    kept = [node for node in results[outputs:] if "val" in getattr(node, "meta", {})]
    storages = storage_bytes(kept)
    own_storages = storage_bytes([it for it in forward_half.graph.nodes if it.op == "placeholder"])
    own = sum(size for storage, size in storages.items() if storage in own_storages)
    return {
        "tensors": len(kept),
        "bytes": sum(storages.values()) - own,
        "of inputs and parameters": own,
    }


def storage_bytes(nodes: list[Any]) -> dict[int, int]:
    """The size of each storage that the values of some nodes lie in."""
    storages = [node.meta["val"].untyped_storage() for node in nodes]
    return {storage._cdata: storage.nbytes() for storage in storages}
