"""PyTorch, tape style: autograd records while the forward runs, and walks the record backwards."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.engines.capture.lint import latest_first
from explorer.engines.torch.code import code
from explorer.engines.torch.errors import failed
from explorer.engines.torch.net import (
    SEED,
    Net,
    build,
    changeable,
    changed_state,
    describe,
    flat,
    forward,
    moved,
    named,
    refuse_missing_auxiliary,
    returned_tree,
    seeds,
    start_of_state,
    start_random_numbers,
    state_now,
)
from explorer.engines.torch.put_in import NOTHING, Values
from explorer.engines.torch.source_lines import RunningModule
from explorer.engines.torch.tape_capture import TapeGradGraph, TapeRecording
from explorer.engines.torch.tape_recorder import Recorder
from explorer.engines.torch.tape_records import Origin
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result, ResultNote
from explorer.model.state import StateChange
from explorer.model.trees import names_in
from explorer.workers.garbage_collection import paused

__all__ = ["answer", "capture", "describe", "replay"]


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    try:
        net = ready(request)
        return _result(request, net, solve(net, request.case))
    except Exception as error:
        return failed(request, error, code(request))


@paused()
def capture(request: CaseRequest) -> Captured:
    """The tape of one case as a graph, op by op, and the answer.

    The answer was computed while the tape was recorded.
    """
    recording = None
    state: tuple[StateChange, ...] = ()
    try:
        net = ready(request)
        before = start_of_state(net)
        solution, recording = solve_recorded(net, request.case)
        state = changed_state(before, state_now(net))
        result = _result(request, net, solution)
    except Exception as error:
        result = failed(request, error, code(request))
    # Not within the try above: what goes wrong here is no exception of the net's.
    if recording is None:
        return Captured((), result)
    graph = recording.graph(request.case.label, request.values, request.prove)
    return Captured((graph,), result, state)


@paused()
def replay(request: CaseRequest) -> Result:
    """The gradients of one case from its recorded operators, run in another order.

    The order is one that the graph's edges allow.
    """
    case = request.case
    try:
        _, recording = solve_recorded(ready(request), case)
        net = build(request.net)
        outputs, gradients = replayed(recording, net)
        structure, leaves = named(net, case, recording.returned, outputs, gradients)
    except Exception as error:
        return failed(request, error)
    return Result(outcome="ok", structure=structure, leaves=leaves)


@dataclass(frozen=True)
class Solution:
    """The return value of a net, and the gradients of one case.

    ``roots`` are the outputs that were differentiated, by position; ``gradients`` are in the order
    of the case's leaves, and ``note`` is a remark on them.
    """

    returned: Any
    roots: dict[int, torch.Tensor]
    gradients: list[torch.Tensor]
    note: ResultNote | None


def ready(request: CaseRequest) -> Net:
    """A fresh net of which the leaves of the case require gradients; RuntimeError for integers."""
    net = build(request.net)
    for leaf in net.leaves(request.case).values():
        leaf.requires_grad_()
    return net


def solve(net: Net, case: GradCase) -> Solution:
    """A case computed as a user of PyTorch would."""
    returned = forward(net)
    roots = differentiated(net, case, returned)
    gradients, note = differentiate(net, case, roots)
    return Solution(returned, roots, gradients, note)


def solve_recorded(
    net: Net, case: GradCase, instead: Mapping[int, Values] = NOTHING
) -> tuple[Solution, TapeRecording]:
    """The same under a recorder, with what it recorded.

    ``instead`` has other values for the outputs of some records, by the number of the record.
    """
    recorder = _recorder_of(net, instead)
    with recorder, recorder.module:
        returned = forward(net)
        outputs = list(flat(returned))
        for output in outputs:
            recorder.origin(output)  # of one that no operator made, the forward's constant
    roots = differentiated(net, case, returned)
    with recorder:
        gradients, note = differentiate(net, case, roots, recorder.expect_pass)
    # As the call leaves it: backward changes a buffer once more where it computes a block again.
    state = {}
    for name, tensor in moved(net, recorder.values_at_start(changeable(net))).items():
        state[name] = tensor, tensor.detach().clone()

    tree = returned_tree(net, returned)
    named_outputs = recorder.origins_of(dict(zip(names_in(tree), outputs, strict=True)))
    named_gradients = recorder.origins_of(dict(zip(net.leaves(case), gradients, strict=True)))
    solution = Solution(returned, roots, gradients, note)
    return solution, TapeRecording(recorder, tree, named_outputs, named_gradients, state)


def _recorder_of(net: Net, instead: Mapping[int, Values]) -> Recorder:
    """A recorder that knows the inputs, parameters and buffers of a net."""
    module = RunningModule(net.call)
    recorder = Recorder(module, net.trainable, str(net.scenario.path), instead)
    for name, tensor in net.inputs.items():
        recorder.add_leaf(name, tensor, "input")
    for name, tensor in net.state.items():
        # One with the name of an input is an input here, as its gradient is.
        recorder.add_leaf(name, tensor, "input" if name in net.inputs else "parameter")
    return recorder


def _result(request: CaseRequest, net: Net, solution: Solution) -> Result:
    case = request.case
    outputs = list(flat(solution.returned))
    returned = returned_tree(net, solution.returned)
    structure, leaves = named(net, case, returned, outputs, solution.gradients)
    differentiable = len(list(flat(_to_differentiate(case, solution.returned))))
    return Result(
        outcome="ok",
        structure=structure,
        leaves=leaves,
        natural=_natural(net, case),
        code=code(
            request,
            skips=len(solution.roots) < differentiable,
            returned=returned,
            by_backward=solution.note is not None and solution.note.kind == "reentrant",
        ),
        note=solution.note,
    )


def _natural(net: Net, case: GradCase) -> str:
    """The return value of the case's idiom, as PyTorch would write it."""
    names = list(net.leaves(case))
    if case.api == "value_and_grad":
        return ", ".join(f"{name.removeprefix('d')}.grad" for name in names)
    comma = "," if len(names) == 1 else ""
    return f"({', '.join(names)}{comma})"


def differentiated(net: Net, case: GradCase, returned: Any) -> dict[int, torch.Tensor]:
    """The outputs that a case differentiates, by position.

    These are the outputs that are on the tape, or all when none is. Raises what ``torch.func``
    raises when a case splits off auxiliary outputs that the net does not have.
    """
    refuse_missing_auxiliary(case, returned)
    outputs = dict(enumerate(flat(_to_differentiate(case, returned))))
    on_tape = {index: output for index, output in outputs.items() if output.requires_grad}
    return on_tape or outputs


def _to_differentiate(case: GradCase, returned: Any) -> Any:
    """All that a net returned, or the first entry of it where the case sets the others aside."""
    if case.has_aux:
        return returned[0]
    return returned


def differentiate(
    net: Net,
    case: GradCase,
    roots: dict[int, torch.Tensor],
    before_pass: Callable[[list[torch.Tensor]], None] = lambda _: None,
) -> tuple[list[torch.Tensor], ResultNote | None]:
    """The gradients of a case in the order of its leaves, and a note on them.

    They are computed by the idiom that belongs to the case's api. ``before_pass`` is called with
    the heads of every pass.
    """
    leaves = list(net.leaves(case).values())
    heads = list(roots.values())
    before_pass(heads)
    cotangents = seeds(case, roots)  # after before_pass, which says that backward begins
    if case.api == "value_and_grad":
        return _backward(net, case, heads, cotangents)
    if case.order == 1 and leaves and recomputes_reentrantly(heads):
        gradients, note = _backward(net, case, heads, cotangents)
        return gradients, note or ResultNote("reentrant")
    for _ in range(case.order - 1):
        heads = list(
            torch.autograd.grad(
                heads, leaves, cotangents, create_graph=True, materialize_grads=True
            )
        )
        before_pass(heads)
        cotangents = seeds(case, dict(enumerate(heads)))
    return list(torch.autograd.grad(heads, leaves, cotangents, materialize_grads=True)), None


def recomputes_reentrantly(heads: Iterable[torch.Tensor]) -> bool:
    """Whether a tape has a block under torch.utils.checkpoint with use_reentrant=True.

    It refuses torch.autograd.grad, and inputs= of a backward (2.13).
    """
    waiting = [head.grad_fn for head in heads if head.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if node.name() == "CheckpointFunctionBackward":
            return True
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def _backward(
    net: Net, case: GradCase, heads: list[torch.Tensor], cotangents: list[torch.Tensor]
) -> tuple[list[torch.Tensor], ResultNote | None]:
    leaves = net.leaves(case)
    # Where nothing is requested, say so: PyTorch refuses an empty list, and takes None for "all".
    torch.autograd.backward(heads, cotangents, inputs=None if leaves else [])
    gradients = []
    without = []
    for name, leaf in leaves.items():
        if leaf.grad is None:
            without.append(name.removeprefix("d"))
            gradients.append(torch.zeros_like(leaf))
        else:
            gradients.append(leaf.grad)
    if not without:
        return gradients, None
    return gradients, ResultNote("grad_is_none", ", ".join(without))


def replayed(recording: TapeRecording, net: Net) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Outputs and gradients of a recording, computed once more from a fresh ``net``'s tensors.

    The latest operator that is ready runs first.
    """
    drawn = TapeGradGraph(recording, values=False)
    record_of_node = {node: number for number, node in drawn.nodes.items()}
    leaves = {**net.inputs, **net.state}
    filled = recording.bookkeeping.filled
    values: dict[Origin, torch.Tensor] = {}
    start_random_numbers(SEED)
    for node in latest_first(drawn.record("")):
        if node not in record_of_node:
            continue  # a result, which computes nothing
        number = record_of_node[node]
        record = recording.records[number]
        if record.operator is None:
            # Constants are as they were recorded; a copy, since an operator may write to them.
            value = record.outputs[0].clone()
            if record.is_leaf:  # an input may have the name of a constant: "seed"
                value = leaves.get(record.name, value)
            values[number, 0] = value.detach()
            continue
        if number in filled:
            # The memory that this operator fills has no node of its own.
            _run(recording, filled[number], values)
        _run(recording, number, values)

    resolve = recording.bookkeeping.resolve
    outputs = [values[resolve(origin)] for origin in recording.outputs.values()]
    gradients = [values[resolve(origin)] for origin in recording.gradients.values()]
    return outputs, gradients


def _run(recording: TapeRecording, number: int, values: dict[Origin, torch.Tensor]) -> None:
    """Run a record's operator on what its operands' origins yielded this time."""
    record = recording.records[number]
    operands = []
    for origin in record.origins:
        # Hidden aliases are not run once more: what they alias is read instead.
        if origin not in values:
            origin = recording.bookkeeping.resolve(origin)
        operands.append(values[origin])
    for output, tensor in enumerate(record.run_again(operands)):
        values[number, output] = tensor
