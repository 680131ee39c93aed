"""The call of a compiled gradient in a program's step: what it read and returned, and its graph."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mindspore as ms

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.mindspore.compiled_calls import CompiledCall
from explorer.engines.mindspore.found_cells import argument_names, cells_of
from explorer.engines.mindspore.graph_capture import GraphCapture, ModuleLeaf
from explorer.engines.mindspore.ir import Module, parse
from explorer.engines.mindspore.ir_statements import program
from explorer.engines.mindspore.kernel_values import KernelValues
from explorer.engines.mindspore.net import array_of, dtype_of, flat
from explorer.engines.mindspore.optimizer_state import SHARED, state_of
from explorer.engines.mindspore.source_lines import CallSite
from explorer.engines.mindspore.state import add_state
from explorer.engines.mindspore.step_capture import Known, StepCapture
from explorer.engines.mindspore.step_noise import StepNoise
from explorer.engines.mindspore.tape_tensors import tensors_in
from explorer.engines.mindspore.watched_executor import leaves_of
from explorer.engines.mindspore.whole_constants import with_whole_constants
from explorer.engines.step_names import free_name, nested_tensors
from explorer.model.arrays import AnyArray
from explorer.model.errors import UncapturedError
from explorer.model.graph import Absence, GradGraph, Layer, NodeKind, Output, Phase
from explorer.model.passes import FINAL
from explorer.numeric.summaries import summarise
from explorer.scenario.layouts import Layout, torch_name


class Returned(NamedTuple):
    """A tensor that the call returned; ``leaf`` is the name of what it is the gradient of."""

    name: str
    array: AnyArray
    dtype: str
    layout: Layout
    leaf: str | None


class CompiledGradient:
    """A call of a compiled gradient, whose program is in the file ``path``.

    The tensors that it reads are noted in the ``capture`` of the step. ``returned`` are those that it has
    returned.
    """

    def __init__(self, call: CompiledCall, path: Path, capture: StepCapture) -> None:
        self.returned: list[Returned] = []
        self._call = call
        self._path = path
        self._capture = capture
        self._inputs = [it for it in tensors_in(call.args) if not isinstance(it, ms.Parameter)]
        self._changed: list[tuple[Known, AnyArray]] = []
        self._updates: list[tuple[str, CallSite]] = []
        # What ms.grad compiles is a function of its own, which holds these.
        is_function = inspect.isfunction(call.function)
        held = inspect.getclosurevars(call.function).nonlocals if is_function else {}
        self._operation = held.get("grad_")
        self._differentiated = held.get("fn", call.function)
        self._weights = held.get("weights")
        self._position = held.get("grad_position", 0)

    # What the step tells of it

    def note_leaves(self, optimizers: Sequence[Any]) -> None:
        """Note what the call reads: arguments, parameters, and what optimizers hold."""
        capture = self._capture
        named = cells_of(self._differentiated) or [self._differentiated]
        is_cell = isinstance(self._differentiated, ms.nn.Cell)
        names = argument_names(named[0] if is_cell else self._differentiated)
        for name, value in zip(names, self._call.args, strict=False):
            for path, tensor in nested_tensors(name, value, ms.Tensor):
                capture.add(path, tensor, "input")
        for optimizer in optimizers:
            self._note_state_of(optimizer)
        known = {getattr(it.tensor, "name", "") for it in capture.known.values()}
        for name, parameter in self._call.executor.get_params(self._call.phase).items():
            if name not in known:
                capture.add(torch_name(name, "", {}, {}), parameter, "parameter")
        # The call may write to any of them.
        capture.graph.keep_values([it.tensor for it in capture.known.values()])

    def _note_state_of(self, optimizer: Any) -> None:
        for name, tensor in state_of(optimizer, self._capture.name_of).items():
            self._capture.add(name, tensor, "optimizer")

    def end(self, result: Any) -> None:
        """The call has returned ``result``."""
        leaves = self._leaves_of(result)
        names: dict[str, None] = {}
        for tensor in flat(result):
            leaf = leaves.get(id(tensor))
            name = free_name(f"d{leaf}" if leaf else "output" if names else "loss", names)
            names[name] = None
            layout = self._capture.known[leaf].layout if leaf else ()
            array = array_of(tensor).copy()
            self.returned.append(Returned(name, array, dtype_of(tensor), layout, leaf))
        self._changed = [(known, after) for known, _, after in self._capture.changes()]

    def note_update(self, optimizer: Any, site: CallSite) -> None:
        """An optimizer is called at ``site``, behind the call."""
        self._note_state_of(optimizer)
        capture = self._capture
        capture.graph.keep_values([it.tensor for it in capture.known.values()])
        self._updates.append((type(optimizer).__name__, site))

    def _leaves_of(self, result: Any) -> dict[int, str]:
        """The names of the leaves whose gradients are in a result, by the identities of these."""
        operation = self._operation
        if operation is None:
            return {}
        gradients = result
        if getattr(operation, "get_value", False):
            gradients = result[1]
        elif getattr(operation, "has_aux", False):
            gradients = result[0]
        leaves = leaves_of(operation, self._weights, self._position, self._call.args)
        names = {}
        for leaf, gradient in pairs(leaves, gradients):
            name = self._capture.name_of(leaf)
            if name is not None:
                names[id(gradient)] = name
        return names

    # Its graph

    def graph(
        self, name: str, layers: Mapping[str, Layer], path_of: Callable[[Any], str | None]
    ) -> GradGraph:
        """The graph of the compiled program, each of whose operators is computed again one by one.

        ``layers`` are those of the program's Cells, and ``path_of`` gives the path of a Cell.
        """
        module = self._module()
        statements = program(module)
        values = KernelValues({}, statements)
        # No kernel has dumped: of no branch is it known that it did not run.
        values.idle = frozenset()
        graph = GraphCapture(module, self._leaves(module), values)
        graph.walk(statements, module.entry, bool(getattr(self._operation, "get_value", False)))
        graph.compute()
        self._add_outputs(graph)
        self._add_state(graph)
        self._add_updates(graph.builder)
        self._rename_scopes(graph.builder, path_of)
        StepNoise(graph.builder, graph.values(), graph.arguments_of).measure()
        return graph.record(name, FINAL.stage, (), layers)

    def _module(self) -> Module:
        text = self._path.read_text(encoding="utf-8")
        exact = self._call.executor.get_func_graph_proto(self._call.phase, "mind_ir", False)
        return parse(with_whole_constants(text, exact), self._path.name)

    def _leaves(self, module: Module) -> dict[str, ModuleLeaf]:
        """What the parameters of the program are, by label."""
        capture = self._capture
        own = {getattr(it.tensor, "name", ""): it for it in capture.known.values()}
        inputs = iter(self._inputs)
        leaves = {}
        for parameter in module.parameters:
            if parameter.has_default:
                known = own.get(parameter.name)
            else:
                known = capture.known.get(capture.name_of(next(inputs, None)) or "")
            if known is not None:
                leaves[parameter.label] = ModuleLeaf(
                    _kind(known), known.name, capture.before(known)
                )
        return leaves

    def _add_outputs(self, graph: GraphCapture) -> None:
        if len(self.returned) != len(graph.returned):
            counts = (str(len(graph.returned)), str(len(self.returned)))
            raise UncapturedError("interpreted_outputs", *counts)
        leaves = graph.builder.leaves()
        for result, binding in zip(self.returned, graph.returned, strict=True):
            phase: Phase = "backward" if result.leaf else "forward"
            leaf = leaves.get(result.leaf) if result.leaf else None
            graph.add_output(binding, result.name, phase, result.array, result.dtype, leaf)

    def _add_state(self, graph: GraphCapture) -> None:
        """Add nodes for what the call has changed, and for the gradients that it has updated with."""
        builder = graph.builder
        last = _last_readers(builder)
        leaves = builder.leaves()
        written = {}
        for known, _ in self._changed:
            reader = last.get(leaves.get(known.name, -1))
            if reader is not None and known.role != "buffer":
                written[known.name] = reader, 0
            if reader is not None and known.role == "parameter":
                self._add_gradient(graph, known, reader)
        self._add_changed(builder, self._changed, written)

    def _add_gradient(self, graph: GraphCapture, known: Known, update: int) -> None:
        """Add a node for the gradient with which the operator ``update`` has changed a parameter."""
        shape = tuple(known.tensor.shape)
        builder = graph.builder
        slots = [
            slot
            for slot in graph.gradients_behind(update)
            if builder.nodes[slot[0]].outputs[slot[1]].shape == shape
        ]
        array = graph.array(slots[0]) if slots else None
        if array is None:
            return
        name = f"d{known.name}"
        dtype = dtype_of(known.tensor)
        self.returned.append(Returned(name, array, dtype, known.layout, known.name))
        graph.add_output(slots[0], name, "backward", array, dtype, builder.leaves().get(known.name))

    def _add_updates(self, builder: GraphBuilder) -> None:
        """Add a node for each optimizer that has run behind the call, with what the step has changed."""
        earlier = {known.name for known, _ in self._changed}
        changed = [
            (known, after)
            for known, _, after in self._capture.changes()
            if known.name not in earlier
        ]
        if not self._updates or not changed:
            return
        name, (scope, source) = self._updates[-1]
        leaves = builder.leaves()
        gradients = _outputs_by_name(builder)
        read: list[Slot] = []
        for known, _ in changed:
            if known.name not in leaves:
                before = summarise(self._capture.before(known), dtype_of(known.tensor))
                output = Output(tuple(known.tensor.shape), dtype_of(known.tensor), before)
                kind = _kind(known)
                leaves[known.name] = builder.add(
                    kind, kind, "forward", name=known.name, outputs=(output,)
                )
            read.append((leaves[known.name], 0))
            if f"d{known.name}" in gradients:
                read.append(gradients[f"d{known.name}"])
        outputs = tuple(
            Output(after.shape, dtype_of(known.tensor), summarise(after, dtype_of(known.tensor)))
            for known, after in changed
        )
        number = builder.add(
            name,
            "op",
            "backward",
            tuple(read),
            scope=scope,
            source=source,
            outputs=outputs,
            missing={"forward": Absence("outside_pass")},
        )
        written = {known.name: (number, place) for place, (known, _) in enumerate(changed)}
        self._add_changed(builder, changed, written)

    def _add_changed(
        self,
        builder: GraphBuilder,
        changed: Sequence[tuple[Known, AnyArray]],
        written: Mapping[str, Slot],
    ) -> None:
        """Add nodes for tensors that were changed; counters are no results."""
        state = {}
        dtypes = []
        for known, after in changed:
            if after.dtype.kind in "fc" and _kind(known) == "parameter":
                state[known.name] = after
                dtypes.append(dtype_of(known.tensor))
        add_state(builder, dtypes, state, values=True, assigned=written)

    def _rename_scopes(self, builder: GraphBuilder, path_of: Callable[[Any], str | None]) -> None:
        """Give the nodes the paths that Cells have outside of the one that was compiled."""
        if not isinstance(self._call.function, ms.nn.Cell):
            return
        cells = dict(self._call.function.cells_and_names())
        for node in builder.nodes:
            if node.scope in cells:
                node.scope = path_of(cells[node.scope]) or ""


def _kind(known: Known) -> NodeKind:
    """The kind of a leaf: what optimizers hold for themselves alone are settings."""
    if known.role == "optimizer" and known.name.rpartition(".")[2] not in SHARED:
        return "constant"
    return "input" if known.role == "input" else "parameter"


def _last_readers(builder: GraphBuilder) -> dict[int, int]:
    """The last node that reads each node."""
    last: dict[int, int] = {}
    for slot, target, _ in builder.edges():
        if builder.is_kept(target):
            origin = builder.resolve(slot)[0]
            last[origin] = max(target, last.get(origin, -1))
    return last


def _outputs_by_name(builder: GraphBuilder) -> dict[str, Slot]:
    """The slots that the nodes of outputs show, by the names of these."""
    shown = {}
    for slot, target, _ in builder.edges():
        node = builder.nodes[target]
        if node.kind == "output":
            shown[node.name] = builder.resolve(slot)
    return shown


def pairs(leaves: Any, gradients: Any) -> Iterator[tuple[Any, Any]]:
    """Tensors and their gradients, nested alike; what has no gradient is left out."""
    if isinstance(leaves, ms.Tensor):
        if isinstance(gradients, (tuple, list)) and len(gradients) == 1:
            (gradients,) = gradients
        if isinstance(gradients, ms.Tensor):
            yield leaves, gradients
    elif isinstance(leaves, (tuple, list)) and isinstance(gradients, ms.Tensor):
        yield from pairs(next(iter(leaves), None), gradients)
    elif isinstance(leaves, (tuple, list)) and isinstance(gradients, (tuple, list)):
        for leaf, gradient in zip(leaves, gradients, strict=False):
            yield from pairs(leaf, gradient)
