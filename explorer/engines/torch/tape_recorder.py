"""Records what PyTorch's dispatcher does while a net runs forward and backward.

A record has the operator, what it read, and what it made. Nothing is computed from the tensors
meanwhile, but a tensor about to be overwritten is copied first: a value is what it was when it was
made.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.net import Net
from explorer.engines.torch.operators import (
    TENSORS,
    ZEROS,
    gather_tensors,
    operator_name,
    tensors_in,
    written_arguments,
)
from explorer.engines.torch.source_lines import RunningModule, calling_lines
from explorer.engines.torch.tape_nodes import TapeNodes
from explorer.engines.torch.tape_records import OperatorRecord, Origin
from explorer.engines.torch.tape_tensors import TensorOrigins
from explorer.model.graph import NodeKind, Phase

SEED_NAME = "seed"
"""The name of the cotangent that a pass starts from."""


class Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records one gradient computation of one net.

    A context manager around forward, and again around backward. ``records`` has what ran in order,
    after the net's inputs, parameters and buffers, whose numbers are in ``leaves``. ``heads`` says
    from which tensors second and further passes started.
    """

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.module = RunningModule(net.call)
        self.phase: Phase = "forward"
        self.records: list[OperatorRecord] = []
        self.tensors = TensorOrigins(self.records)
        self.tape = TapeNodes(self.records, self.tensors.origins)
        self.heads: list[Origin] = []
        self.leaves: dict[str, int] = {}
        for name, tensor in (*net.inputs.items(), *net.state.items()):
            kind: NodeKind = "parameter"
            if name in net.inputs:
                kind = "input"
            self.leaves[name] = self._add_given(tensor, name, kind)[0]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here, and keeping Dynamo out costs as much as a small operator.
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        record = self._record(func, args, kwargs)
        self.tape.attribute(record)
        if self.phase == "forward":
            record.scope = self.module.path
            record.lines = calling_lines()
        elif not record.tape:
            self._note_preparation(record)
        self._note_writes(record)

        result = func(*args, **kwargs)

        number = len(self.records)
        record.outputs = [result] if type(result) in TENSORS else tensors_in(result)
        self.records.append(record)
        if self.tape.feeds_leaf(record):
            self.tensors.hold_aliases(number)
        else:
            self.tensors.hold(number, record.outputs)
        if record.written:
            origins = self.tensors.origins
            record.written_origins = [origins[id(tensor)] for tensor in record.written]
        return result

    def _record(
        self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> OperatorRecord:
        operands: list[torch.Tensor] = []
        gather_tensors(args, operands)
        if kwargs:
            gather_tensors(kwargs.values(), operands)
        # Most operands are known, and this runs at every operator: look them up without a call.
        recorded = self.tensors.origins
        origins = [recorded.get(id(tensor)) or self.origin(tensor) for tensor in operands]
        name = operator_name(operator)
        return OperatorRecord(operator, args, kwargs, self.phase, origins, operands, name)

    def _note_preparation(self, record: OperatorRecord) -> None:
        """Note what an operator is for that no tape node runs: it prepares a pass over the tape."""
        if not record.operands:
            # ones() for a cotangent reads no tensor.
            record.kind = "constant"
            record.name = SEED_NAME
        elif record.op == ZEROS:
            record.kind = "constant"  # the gradient of what the outputs do not depend on

    def _note_writes(self, record: OperatorRecord) -> None:
        """Note which operands an operator is about to overwrite, and keep what they hold."""
        positions, names = written_arguments(record.operator)
        if not positions and not names:
            return
        args, kwargs = record.args, record.kwargs
        written = [args[position] for position in positions if position < len(args)]
        written += [kwargs[name] for name in names if name in kwargs]
        record.written = tensors_in(written)
        for tensor in record.written:
            self.tensors.keep_values(tensor)

    def _add_given(self, tensor: torch.Tensor, name: str, kind: NodeKind) -> Origin:
        """A record for a tensor that no operator was seen to make; its origin."""
        number = len(self.records)
        record = OperatorRecord(
            None, (), {}, self.phase, [], [], kind, [tensor], kind=kind, name=name
        )
        self.records.append(record)
        # A tensor under two names goes by the first of them, as in MindSpore's tape.
        if id(tensor) not in self.tensors.origins:
            self.tensors.hold(number, [tensor])
        return number, 0

    def origin(self, tensor: torch.Tensor) -> Origin:
        """The origin of a tensor.

        One that is not known shows the elements of one that is, or else is a constant.
        """
        origin = self.tensors.origins.get(id(tensor)) or self.tensors.same_elements(tensor)
        if origin is not None:
            return origin
        name = ""
        if self.phase == "backward" and self.tape.is_idle:
            name = SEED_NAME
        return self._add_given(tensor, name, "constant")

    def values_at_start(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """The values of inputs and parameters before anything ran."""
        return {name: self.records[self.leaves[name]].outputs[0] for name in names}

    def expect_pass(self, heads: list[torch.Tensor]) -> None:
        """Say that a backward pass from ``heads`` comes next.

        From the second pass on the heads are gradients themselves.
        """
        if self.phase == "backward":
            self.heads += map(self.origin, heads)
        self.phase = "backward"
        self.tape.expect_pass(heads)
