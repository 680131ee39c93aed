"""MindSpore's graph style: GRAPH_MODE compiles forward and backward into one graph before it runs."""

import os
import shutil
from pathlib import Path
from typing import Any

import mindspore as ms
import msgspec

from explorer.engines.capture.garbage_collection import paused
from explorer.engines.mindspore.answers import answer, gradient_of, named, weights
from explorer.engines.mindspore.code import code
from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.gradient_cell import wrapped
from explorer.engines.mindspore.graph_capture import Builder, Leaves, newest
from explorer.engines.mindspore.ir import Module, read
from explorer.engines.mindspore.ir_statements import program
from explorer.engines.mindspore.kernel_dump import Dump
from explorer.engines.mindspore.net import (
    Net,
    array_of,
    build,
    describe,
    dtype_of,
    flat,
    sensitivities,
)
from explorer.engines.mindspore.state import moved, results, snapshot
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph, Phase
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result
from explorer.model.trees import names_in, render
from explorer.workers.environments import DUMP, IR, SETTINGS

__all__ = ["answer", "capture", "describe"]

KEPT = "compiled as value_and_grad, so that the forward stays whole (ms.grad drops what only outputs need): same gradients"
RUNS = "rank_*/Net/*"
"""Where the dump puts each compiled graph, under a number of its own."""


@paused()
def capture(request: CaseRequest) -> Captured:
    """The compiler's gradient graph of one case, pass by pass, with the answer that the compiled
    graph gave.
    """
    case, shown = request.case, code(CaseRequest(request.net, request.case))
    scratch = _scratch(request.values)
    try:
        sens = (sensitivities(request.net),) if case.sens_param else ()
        net = build(request.net)
        compiled = _compiled(case)
        cell = wrapped(net.call, compiled, weights(net, case))
        before = {
            parameter.name: array_of(parameter).copy() for parameter in net.parameters.values()
        }
        start = snapshot(net)
        _clear(scratch)
        dumped = set((scratch / DUMP).glob(RUNS))
        real = cell(*net.arguments, *sens)
        ms.runtime.synchronize()
        fresh = set((scratch / DUMP).glob(RUNS)) - dumped
        state = moved(net, start)
        tree, leaves = named(_asked(case, compiled, real), net, case)
        graphs = _graphs(request, net, compiled, real, before, state, scratch / IR, fresh)
    except Exception as error:
        return Captured(
            (), Result(outcome="raised", error=failure(error, request.net.scenario), code=shown)
        )
    return Captured(
        graphs,
        Result(outcome="ok", structure=tree, natural=render(tree), leaves=leaves, code=shown),
    )


def _scratch(values: bool) -> Path:
    if "MS_DEV_SAVE_GRAPHS_PATH" not in os.environ or (values and SETTINGS not in os.environ):
        raise ExplorerError(
            "graphs are captured in a worker started with capture_environment(), which this process was not"
        )
    return Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"]).parent


def _clear(scratch: Path) -> None:
    for path in (scratch / IR).rglob("*.ir"):
        path.unlink()
    for path in (scratch / DUMP).glob(RUNS):
        shutil.rmtree(
            path, ignore_errors=True
        )  # an earlier run's last files may still be on their way


def _compiled(case: GradCase) -> GradCase:
    return (
        msgspec.structs.replace(case, api="value_and_grad")
        if case.api == "grad" and case.order == 1
        else case
    )


def _asked(case: GradCase, compiled: GradCase, real: Any) -> Any:
    """What the case itself would have returned, taken from what was compiled."""
    if case.api == compiled.api:
        return real
    return (real[1], tuple(real[0][1:])) if case.has_aux else real[1]


def _graphs(
    request: CaseRequest,
    net: Net,
    compiled: GradCase,
    real: Any,
    before: dict[str, AnyArray],
    state: dict[str, AnyArray],
    ir: Path,
    dumped: set[Path],
) -> tuple[GradGraph, ...]:
    case, graphs = request.case, []
    notes = (KEPT,) if case.api != compiled.api else ()
    for stage, stem in (
        ("type_inference", "type_inference"),
        ("opt_a", "opt_pass_2_opt_a"),
        ("validate", "validate"),
    ):
        path = newest(ir, stem)
        if path is None:
            continue
        module, last = read(path), stage == "validate"
        statements = program(module)
        dump = Dump(dumped if last and request.values else ())
        joined = dump.join(statement for body in statements.values() for statement in body)
        entry = _forward_entry(module, net) if stage == "type_inference" else module.entry
        reader = (
            (lambda statement, joined=joined: joined.get(id(statement)))
            if last and request.values
            else None
        )
        builder = Builder(module, _leaves(module, net, before), reader, frozenset(dump.idle))
        builder.run(
            statements, entry, valued=compiled.api == "value_and_grad" and entry == module.entry
        )
        _outputs(builder, net, compiled, real, entry == module.entry)
        if last:
            results(builder.draft, net, state, request.values)
        graphs.append(builder.draft.settle("mindspore-graph", case.label, stage, notes))
    return tuple(graphs)


def _forward_entry(module: Module, net: Net) -> str:
    """The graph of the user's own net before differentiation; the entry where the pass does not
    name it.
    """
    stem = net.scenario.module.__name__.replace(".", "_")
    names = [graph.name for graph in module.subgraphs if f"_{stem}_" in f"_{graph.name}"]
    whole = [name for name in names if "grad_" not in name and not set("↓✓✗") & set(name)]
    return whole[-1] if whole else module.entry


def _leaves(module: Module, net: Net, before: dict[str, AnyArray]) -> Leaves:
    """The module's parameters as a reader knows them: inputs by place, parameters by PyTorch's
    names.
    """
    torch_names = {parameter.name: name for name, parameter in net.parameters.items()}
    inputs = {
        f"inputs{place}": (name, tensor) for place, (name, tensor) in enumerate(net.inputs.items())
    }
    leaves: Leaves = {}
    for parameter in module.parameters:
        own = parameter.name
        if own in inputs:
            leaves[parameter.label] = ("input", inputs[own][0], array_of(inputs[own][1]))
        elif own in torch_names:
            leaves[parameter.label] = ("parameter", torch_names[own], before[own])
    return leaves


def _outputs(builder: Builder, net: Net, compiled: GradCase, real: Any, whole: bool) -> None:
    """Name what a stage returns: everything, or in a stage that has the forward alone the outputs."""
    tree, _ = named(real, net, compiled)
    gradients = set(names_in(gradient_of(compiled, tree)))
    numbers = builder.draft.leaves()
    came = [
        (name, tensor)
        for name, tensor in zip(names_in(tree), flat(real), strict=True)
        if whole or name not in gradients
    ]
    if len(came) != len(builder.returned) and builder.read is None:
        return  # a pass may still hold what a later one takes out
    for (name, tensor), value in zip(came, builder.returned, strict=True):
        phase: Phase = "backward" if name in gradients else "forward"
        builder.output(
            value,
            name,
            phase,
            array_of(tensor),
            dtype_of(tensor),
            numbers.get(name.removeprefix("d")),
        )
