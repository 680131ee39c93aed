"""The same questions put to PyTorch's joint graph: forward and backward derived together, before
anything runs.
"""

from typing import Any

import torch
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

from explorer.engines.torch.graph import answer, capture
from explorer.engines.torch.joint_graph import Joint, derive
from explorer.engines.torch.net import bare, flat, forward
from explorer.engines.torch.roots import FirstOutput
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.starting_values import net_request
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.in_torch import (
    LEAF,
    detached,
    leaf,
    made,
    nodes_behind,
    packing,
    unpacked,
    watching,
    without_recording,
)
from explorer.topics.tape_life.lifetime import (
    captured_graph,
    crossing,
    first_alone,
    plain_leaves,
    savers,
)

PARTITIONERS = {
    "as written": default_partition,
    "least memory": min_cut_rematerialization_partition,
}


def lifetime(ask: Ask) -> Found:
    """What has to be kept after every operator, read off the joint graph, and what two ways of
    cutting it in two hand over.
    """
    net = made(ask)
    case = first_alone(net.trainable, several=not bare(forward(net)))
    graph = captured_graph(
        capture(CaseRequest(net_request(ask, "torch-graph"), case, values=False))
    )
    cut = {name: between(ask, name) for name in PARTITIONERS}
    return Found({"steps": crossing(graph), "savers": savers(graph), "between": cut})


def called_again(ask: Ask) -> Found:
    """The gradient of one joint graph, asked for three times; and whether anything is left in
    ``.grad``.
    """
    net = made(ask)
    graph = derived(ask, net)
    primals, tangents = arguments(graph, net)
    grads = [numbers(gradients(graph, primals, tangents)) for _ in range(3)]
    return Found(
        {"gradients": grads, ".grad": [numbers(value.grad) for value in net.state.values()]}
    )


def compiled(ask: Ask) -> Found:
    """What a forward records whose joint graph was cut in two (``torch.compile``), and what a
    second backward does.
    """
    net = made(ask)
    watch = watching(net)
    torch.compiler.reset()  # the compiler refuses a program that it has compiled for eight other nets (torch 2.13)
    call = torch.compile(net.call, backend="aot_eager", fullgraph=True)
    with torch.autograd.graph.saved_tensors_hooks(packing(watch), unpacked):
        loss = next(flat(call(*net.arguments)))
    names = sorted(
        node.name() for node in nodes_behind(loss.grad_fn) if not node.name().endswith(LEAF)
    )
    kept = watch.kept()
    loss.backward()
    second = attempt(loss.backward) or "ran"
    return Found({"nodes": names, "kept": kept, "second": second, ".grad": numbers(leaf(net).grad)})


def cut_off(ask: Ask) -> Found:
    """The derivative of x³ with ``no_grad`` or ``detach`` around x²."""
    programs = {"plain": nets.cubes, "no_grad": without_recording, "detach": detached}
    return Found({label: attempt(own, call, ask) for label, call in programs.items()})


def in_place(ask: Ask) -> Found:
    """The gradient when what would be saved for it is changed in place."""
    return Found(
        {
            "result": attempt(own, nets.changed_result, ask),
            "operand": attempt(own, nets.changed_operand, ask),
        }
    )


def hooks(ask: Ask) -> Found:
    """The gradient with a hook on a tensor that doubles it."""
    return Found({"doubled": attempt(own, nets.hooked, ask)})


def answers(ask: Ask) -> Found:
    """The engine's own answers to a scenario's gradient by each input."""
    net = net_request(ask, "torch-graph")
    return Found(
        {
            f"by {name}": plain_leaves(answer(CaseRequest(net, GradCase("grad", place))))
            for place, name in enumerate("ab")
        }
    )


# What the measurements share


def derived(ask: Ask, net: Any) -> Joint:
    """The joint graph of the scenario's first output."""
    return derive(net.call if bare(forward(made(ask))) else FirstOutput(net.call), net.arguments)


def arguments(graph: Joint, net: Any) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """What a joint graph takes: parameters and inputs, and ones for its outputs."""
    given = [
        net.state[name] if kind == "parameter" else net.arguments[name]
        for kind, name in graph.inputs
        if kind != "tangent"
    ]
    given = [value.detach() for value in given]
    return given, graph.tangents(GradCase("grad", None, "all"), given[0].device)


def gradients(
    graph: Joint, primals: list[torch.Tensor], tangents: list[torch.Tensor]
) -> list[torch.Tensor]:
    """The gradients among the results of a joint graph."""
    results = [item for part in graph.module(primals, tangents) for item in part]
    return [
        value
        for (kind, _), value in zip(graph.outputs, results, strict=True)
        if kind == "gradient" and value is not None
    ]


def between(ask: Ask, partitioner: str) -> Any:
    """How many tensors, and bytes, one way of cutting the joint graph hands from the forward's half
    to the backward's.
    """
    net = made(ask)
    graph = derived(ask, net)
    outputs = sum(kind in {"output", "state"} for kind, _ in graph.outputs)
    halves = PARTITIONERS[partitioner](graph.module, arguments(graph, net), num_fwd_outputs=outputs)
    results = next(node for node in halves[0].graph.nodes if node.op == "output").args[0]
    kept = [node for node in results[outputs:] if "val" in getattr(node, "meta", {})]
    held, given = (
        _storages(kept),
        _storages([node for node in halves[0].graph.nodes if node.op == "placeholder"]),
    )
    of_own = sum(size for place, size in held.items() if place in given)
    return {
        "tensors": len(kept),
        "bytes": sum(held.values()) - of_own,
        "of inputs and parameters": of_own,
    }


def _storages(nodes: list[Any]) -> dict[int, int]:
    storages = [node.meta["val"].untyped_storage() for node in nodes]
    return {storage._cdata: storage.nbytes() for storage in storages}


def own(call: Any, ask: Ask) -> Any:
    """The derivative of a program of the study's own at [0, 1, 2]."""
    x = torch.tensor([0.0, 1.0, 2.0], device=ask.device, requires_grad=True)
    graph = derive(call, (x,))
    (found,) = gradients(graph, [x.detach()], graph.tangents(GradCase("grad", 0), x.device))
    return numbers(found)
