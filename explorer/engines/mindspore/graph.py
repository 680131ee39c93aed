"""MindSpore's graph style: GRAPH_MODE compiles forward and backward into one graph, then runs."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import mindspore as ms
import msgspec

from explorer.engines.mindspore import parsed_functions
from explorer.engines.mindspore.answers import (
    answer,
    answered,
    cotangent_arguments,
    failed,
    gradient_of,
    named,
    weights,
)
from explorer.engines.mindspore.compiled_calls import newest
from explorer.engines.mindspore.gradient_cell import wrapped
from explorer.engines.mindspore.graph_capture import GraphCapture, ModuleLeaf
from explorer.engines.mindspore.ir import Module, read_stages
from explorer.engines.mindspore.ir_statements import program
from explorer.engines.mindspore.kernel_values import KernelValues, kernels_in, make_room
from explorer.engines.mindspore.net import Net, array_of, build, describe, dtype_of, flat
from explorer.engines.mindspore.operator_sites import (
    RanOperator,
    ran_operators,
)
from explorer.engines.mindspore.proof import RecordedCall
from explorer.engines.mindspore.state import (
    add_state,
    changed_state,
    moved,
    snapshot,
    start_of_state,
)
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError, UncapturedError
from explorer.model.graph import GradGraph, GraphNote, Phase
from explorer.model.passes import FINAL, PASSES, TYPED, CompilerPass
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured
from explorer.model.state import StateChange
from explorer.model.trees import names_in
from explorer.scenario.load import imported_name
from explorer.workers.environments import DUMP, GRAPHS_FOLDER, IR, SETTINGS
from explorer.workers.garbage_collection import paused

__all__ = ["answer", "capture", "describe"]

parsed_functions.keep()  # answers and captures of this engine compile one after another

RUNS = "rank_*/Net/*"
"""Where the dump puts each compiled graph, under a number of its own."""

PIECES = frozenset("↓✓✗")
"""Marks in the names of functions that the compiler made of a piece of one (2.10.0)."""


MOST_HELD = 128 << 20
"""A graph whose values take more bytes than this is not held for trials on it."""


class HeldGraph:
    """The last graph that this process has captured, and the case that it is of."""

    def __init__(self) -> None:
        self._key: tuple[NetRequest, GradCase] | None = None
        self._graph: GraphCapture | None = None

    def hold(self, request: CaseRequest, graph: GraphCapture) -> None:
        """Hold a graph in the place of the one before; one that is too large is not held."""
        is_small = graph.bytes_of_values() <= MOST_HELD
        self._key = (request.net, request.case) if is_small else None
        self._graph = graph if is_small else None

    def of(self, request: CaseRequest) -> GraphCapture | None:
        """The graph of a case; None where another one is held."""
        return self._graph if self._key == (request.net, request.case) else None


HELD_GRAPH = HeldGraph()
"""Compiling a net again takes far longer than all trials on it."""


@paused()
def capture(request: CaseRequest) -> Captured:
    """The gradient graph of one case after each pass, and the answer of the compiled graph."""
    case = request.case
    scratch = _scratch(request.values)
    try:
        run = _run(request, scratch)
        tree, leaves = named(_answer(case, run), run.net, case)
        modules = _modules(scratch, PASSES)
        graphs = []
        for compiler_pass in PASSES:
            if compiler_pass.stage in modules:
                graph = _graph(request, run, compiler_pass, modules[compiler_pass.stage])
                graphs.append(_record(graph, request, run, compiler_pass))
                if compiler_pass == FINAL:
                    HELD_GRAPH.hold(request, graph)
    except Exception as error:
        return Captured((), failed(request, error))
    return Captured(tuple(graphs), answered(request, tree, leaves), run.changes)


def recorded_calls(request: CaseRequest, nodes: Iterable[str]) -> dict[str, RecordedCall]:
    """The operators of some nodes of the graph that a capture gives, by the ids of these."""
    graph = HELD_GRAPH.of(request)
    if graph is None:
        scratch = _scratch(request.values)
        run = _run(request, scratch)
        graph = _graph(request, run, FINAL, _modules(scratch, (FINAL,))[FINAL.stage])
    return graph.calls_of(nodes)


def _modules(scratch: Path, passes: Iterable[CompilerPass]) -> Mapping[str, Module]:
    """The program after some passes, by their stages."""
    files = {}
    for compiler_pass in passes:
        path = newest(scratch / IR, compiler_pass.file)
        if path is not None:
            files[compiler_pass.stage] = path
    return read_stages(files, FINAL.stage)


# Running the compiled gradient


class ReturnedTensor(NamedTuple):
    """A tensor that a compiled call returned: an output of the net, or a gradient."""

    name: str
    phase: Phase
    array: AnyArray
    dtype: str


@dataclass(frozen=True)
class CompiledRun:
    """A gradient call that was compiled and has run.

    ``case`` is the one that was compiled, ``value`` what it returned, ``returned`` the tensors in
    it. ``parameters`` are the values of all parameters before it, by MindSpore's own names;
    ``state`` are those that the forward changed, as they were afterwards, by PyTorch's names, and
    ``changes`` are all that the call changed, integers too. The
    kernels dumped into ``folders``. ``ran`` are the operators of the forward on the tape.
    """

    net: Net
    case: GradCase
    value: Any
    returned: tuple[ReturnedTensor, ...]
    parameters: dict[str, AnyArray]
    state: dict[str, AnyArray]
    changes: tuple[StateChange, ...]
    folders: set[Path]
    ran: tuple[RanOperator, ...]


def _run(request: CaseRequest, scratch: Path) -> CompiledRun:
    cotangents = cotangent_arguments(request)
    net = build(request.net)
    case = _compiled(request)
    cell = wrapped(net.call, case, weights(net, case), len(net.inputs))
    parameters = {}
    for parameter in net.parameters.values():
        parameters[parameter.name] = array_of(parameter).copy()
    start = snapshot(net)
    before = start_of_state(net)
    _clear(scratch)
    # What _clear left is not this run's.
    earlier = set((scratch / DUMP).glob(RUNS))
    value = cell(*net.arguments, *cotangents)
    ms.runtime.synchronize()  # the last kernels may still be dumping
    folders = set((scratch / DUMP).glob(RUNS)) - earlier
    returned = tuple(_returned(value, net, case))
    state = moved(net, start)
    ran = ran_operators(request.net, request.values)
    changes = changed_state(net, before)
    return CompiledRun(net, case, value, returned, parameters, state, changes, folders, ran)


def _returned(value: Any, net: Net, case: GradCase) -> Iterator[ReturnedTensor]:
    """The tensors of what a case returned, from left to right."""
    tree, _ = named(value, net, case)
    gradients = set(names_in(gradient_of(case, tree)))
    for name, tensor in zip(names_in(tree), flat(value), strict=True):
        phase: Phase = "backward" if name in gradients else "forward"
        yield ReturnedTensor(name, phase, array_of(tensor), dtype_of(tensor))


def _scratch(values: bool) -> Path:
    """The folder into which this process writes IR, and values where those are requested."""
    if GRAPHS_FOLDER not in os.environ or (values and SETTINGS not in os.environ):
        raise ExplorerError(
            "graphs can be captured only in a worker that was started with capture_environment()"
        )
    return Path(os.environ[GRAPHS_FOLDER]).parent


def _clear(scratch: Path) -> None:
    """Remove earlier runs' graphs, and their values where they take much room."""
    for path in (scratch / IR).rglob("*.ir"):
        path.unlink()
    make_room((scratch / DUMP).glob(RUNS))


def _compiled(request: CaseRequest) -> GradCase:
    """The case that is compiled in the place of the one requested."""
    case = request.case
    # ms.grad drops what only the outputs need; the gradients of both are the same.
    if request.whole_forward and case.api == "grad" and case.order == 1:
        return msgspec.structs.replace(case, api="value_and_grad")
    return case


def _answer(case: GradCase, run: CompiledRun) -> Any:
    """The result of ``case`` itself, taken from that of the case which was compiled."""
    if case.api == run.case.api:
        return run.value
    outputs, gradient = run.value
    if case.has_aux:
        return gradient, tuple(outputs[1:])
    return gradient


# Its graphs


def _graph(
    request: CaseRequest, run: CompiledRun, compiler_pass: CompilerPass, module: Module
) -> GraphCapture:
    """The graph after a pass; only that of the last one has values, which its kernels dumped."""
    statements = program(module)
    observed = compiler_pass == FINAL and request.values
    values = KernelValues(kernels_in(run.folders), statements) if observed else None
    entry = _net_entry(module, run.net) if compiler_pass == TYPED else module.entry
    whole = entry == module.entry
    graph = GraphCapture(module, _leaves(module, run), values)
    graph.walk(statements, entry, whole and run.case.api == "value_and_grad")
    _add_outputs(graph, run, whole)
    if compiler_pass == FINAL:
        dtypes = [dtype_of(run.net.parameters[name]) for name in run.state]
        overwritten = add_state(graph.builder, dtypes, run.state, request.values)
        if request.proves:
            graph.prove(overwritten, request.prove == "all")
    # Proofs may have put values in their places, by which operators are recognised.
    graph.place(run.ran)
    return graph


def _record(
    graph: GraphCapture, request: CaseRequest, run: CompiledRun, compiler_pass: CompilerPass
) -> GradGraph:
    """The record of the graph after a pass."""
    notes: tuple[GraphNote, ...] = ()
    if request.case.api != run.case.api:
        notes = ("whole_forward",)
    return graph.record(request.case.label, compiler_pass.stage, notes, run.net.layers)


def _net_entry(module: Module, net: Net) -> str:
    """The name of the subgraph that is the user's own net; the entry where no subgraph is."""
    # A subgraph's name holds the module and the qualified name of its function (2.10.0).
    stem = imported_name(net.scenario.path).replace(".", "_")
    entry = module.entry
    for graph in module.subgraphs:
        is_own = f"_{stem}_" in f"_{graph.name}" and "grad_" not in graph.name
        if is_own and PIECES.isdisjoint(graph.name):
            entry = graph.name
    return entry


def _leaves(module: Module, run: CompiledRun) -> dict[str, ModuleLeaf]:
    """The net's inputs and parameters among the module's parameters, by label.

    Parameters are named as in PyTorch.
    """
    known: dict[str, ModuleLeaf] = {}
    for name, parameter in run.net.parameters.items():
        array = run.parameters[parameter.name]
        known[parameter.name] = ModuleLeaf("parameter", name, array)
    # The Cells around the net take ``*inputs``, which the IR calls inputs0, inputs1, … (2.10.0).
    for place, (name, tensor) in enumerate(run.net.inputs.items()):
        known[f"inputs{place}"] = ModuleLeaf("input", name, array_of(tensor))
    leaves = {}
    for parameter in module.parameters:
        if parameter.name in known:
            leaves[parameter.label] = known[parameter.name]
    return leaves


def _add_outputs(graph: GraphCapture, run: CompiledRun, whole: bool) -> None:
    """Add nodes for the results of a stage, or for its outputs alone where it is not ``whole``.

    A stage is whole unless it holds the forward alone.
    """
    leaves = graph.builder.leaves()
    results = [result for result in run.returned if whole or result.phase == "forward"]
    if len(results) != len(graph.returned):
        if not graph.observed:
            return  # a pass may still hold what a later one takes out
        counts = (str(len(graph.returned)), str(len(results)))
        raise UncapturedError("interpreted_outputs", *counts)
    for result, binding in zip(results, graph.returned, strict=True):
        leaf = leaves.get(result.name.removeprefix("d"))
        graph.add_output(binding, result.name, result.phase, result.array, result.dtype, leaf)
