"""Records one step of a program that runs in this process, without a change to what it computes."""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from explorer.engines.source_lines import Line
from explorer.engines.step_names import free_name, joined
from explorer.engines.torch.found_modules import (
    FoundModules,
    arguments,
    tensors_by_name,
    unwrapped,
)
from explorer.engines.torch.operators import DETACH, operator_name
from explorer.engines.torch.settings import settings_now
from explorer.engines.torch.source_lines import calling_lines
from explorer.engines.torch.tape_nodes import LEAF
from explorer.engines.torch.tape_recorder import SEED_NAME, Recorder
from explorer.engines.torch.tape_records import OperatorRecord, Origin
from explorer.engines.torch.watched_passes import Pass, WatchedPasses
from explorer.model.graph import NodeKind, Setting
from explorer.model.trace import StartRole

Result = TypeVar("Result")

NOT_COMPUTING = "profiler."
"""How the names of operators begin that compute nothing."""

SEED = "aten.ones_like.default"
"""The operator that makes the cotangent of a loss (torch 2.13)."""

COMPILED_NODE = "CompiledFunctionBackward"
"""The tape node of a compiled part (torch 2.13)."""

COMPILED_MODULE = "OptimizedModule"
"""The class of a module that torch.compile() has returned (torch 2.13)."""

_current_node = torch._C._current_autograd_node


class StepRecorder(Recorder):
    """Records the operators of a program's step: forward and backward passes as they come.

    A context manager around the step. Modules are found as they run, but for those that are
    ``known`` by a prefix, and tensors by their names among ``inputs``. At most about ``memory`` bytes
    are held. Once something in here fails, that is its ``fault``, and nothing more is recorded; the
    step goes on. ``roles`` says what each leaf is by its name, and ``given`` has the leaves themselves;
    ``losses`` are the tensors that passes started from, ``gradients`` what they left, ``made``
    what optimizers have made in a first update, and ``settings`` those when the first module ran.
    """

    def __init__(
        self,
        known: Mapping[str, torch.nn.Module],
        inputs: Mapping[str, torch.Tensor],
        memory: int,
    ) -> None:
        called, returned = self._guarded(self._note_call), self._guarded(self._note_return)
        self.found = FoundModules(known, called, returned)
        self._trained: list[str] = []
        super().__init__(self.found, self._trained)
        self.fault: Exception | None = None
        self.is_full = False
        self.has_compiled_modules = False
        self.has_unknown_heads = False
        self.memory = memory
        self.roles: dict[str, StartRole] = {}
        self.given: dict[str, torch.Tensor] = {}
        self.losses: dict[str, Origin] = {}
        self.gradients: dict[str, Origin] = {}
        self.made: dict[str, torch.Tensor] = {}
        self.settings: dict[str, Setting] = {}
        self._depth = 0
        self._has_passed = False
        self._passes = WatchedPasses(
            self._guarded(self._note_pass), self._guarded(self._note_pass_end)
        )
        self._entered = ExitStack()
        self._outermost: Any = None
        self._names: dict[int, str] = {}
        self._returned: dict[str, torch.Tensor] = {}
        for prefix, module in known.items():
            self._add_module(module, prefix)
        for name, tensor in inputs.items():
            self._add(name, tensor, "input")

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled parts run as they do without a recorder."""
        return True

    # The block

    def start(self, outermost: Any) -> None:
        """Begin to record; ``outermost`` is the frame whose lines are the last ones of interest."""
        self._outermost = outermost
        update = self._guarded(self._note_update)
        self._entered.enter_context(self._passes)
        self._entered.enter_context(self.found)
        updated = self._guarded(self._note_updated)
        for hook in (
            register_optimizer_step_pre_hook(lambda optimizer, *_: update(optimizer)),
            register_optimizer_step_post_hook(lambda optimizer, *_: updated(optimizer)),
        ):
            self._entered.callback(hook.remove)
        self._entered.enter_context(self)

    def stop(self) -> None:
        """End it, and leave nothing behind in PyTorch, whatever fails meanwhile."""
        self._entered.close()
        self._outermost = None

    def _guarded(self, note: Callable[..., Result]) -> Callable[..., Result | None]:
        """A method of this recorder's that never raises, and does nothing once one has failed.

        It does not hold the recorder, which holds it: the tensors of a step are let go with the
        recorder, and do not wait for Python's collector.
        """
        method = weakref.WeakMethod(note)

        def run(*args: Any) -> Result | None:
            noting = method()
            recorder: StepRecorder | None = getattr(noting, "__self__", None)
            if noting is None or recorder is None or recorder.is_off:
                return None
            try:
                return noting(*args)
            except Exception as error:
                recorder.fault = error
                return None

        return run

    @property
    def is_off(self) -> bool:
        """Whether nothing more is recorded."""
        return self.fault is not None or self.is_full

    # Operators

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        record = None
        if not self.is_off and not operator_name(func).startswith(NOT_COMPUTING):
            try:
                record = self.begin(func, args, kwargs)
            except Exception as error:
                self.fault = error
        # Outside of any try: what it raises is the program's.
        result = func(*args, **kwargs)
        if record is not None:
            try:
                self.finish(record, result)
                self.is_full = self.tensors.bytes > self.memory
            except Exception as error:
                self.fault = error
        return result

    def lines(self) -> tuple[Line, ...]:
        """The lines on the stack up to the block's own frame."""
        return calling_lines(self._outermost)

    def _record(
        self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> OperatorRecord:
        record = super()._record(operator, args, kwargs)
        if not self._depth and self._is_after_a_pass(record):
            record.phase = "backward"
        return record

    def _is_after_a_pass(self, record: OperatorRecord) -> bool:
        """Whether an operator that no pass runs comes after one: it clips, unscales, or updates."""
        if any(self.records[number].phase == "backward" for number, _ in record.origins):
            return True
        # Optimizers and scalers run without the tape, and first prepare what has no gradient in it.
        return self._has_passed and self.found.is_idle and not torch.is_grad_enabled()

    def finish(self, record: OperatorRecord, result: Any) -> Any:
        """Note what an operator has returned, and a gradient that it leaves in a leaf."""
        number = len(self.records)
        result = super().finish(record, result)
        if record.sequence == LEAF and record.outputs:
            leaf = _current_node().variable
            name = self._names.get(id(leaf))
            # A hook on the leaf may go on with several leaves at once: with a bucket of gradients.
            if name is not None and record.outputs[0].shape == leaf.shape:
                self.gradients[f"d{name}"] = number, 0
        return result

    # Leaves

    def _add(self, name: str, tensor: torch.Tensor, role: StartRole) -> None:
        """Note a tensor that the step did not make, unless it is known."""
        origin = self.tensors.origins.get(id(tensor)) or self.tensors.same_elements(tensor)
        if origin is not None and self.records[origin[0]].kind != "constant":
            return
        name = free_name(name, self.leaves)
        kind: NodeKind = "input" if role == "input" else "parameter"
        if origin is None:
            self.add_leaf(name, tensor, kind)
        else:
            # An operator has read it before it was known what it is.
            record = self.records[origin[0]]
            record.kind, record.name, record.op = kind, name, kind
            self.leaves[name] = origin[0]
        self.records[self.leaves[name]].phase = "forward"  # though it may be found in backward
        self._names[id(tensor)] = name
        self.given[name] = tensor
        self.roles[name] = role
        if tensor.requires_grad:
            self._trained.append(name)

    def _add_module(self, module: torch.nn.Module, prefix: str) -> None:
        module = unwrapped(module)
        for name, tensor in module.named_parameters():
            if torch.nn.parameter.is_lazy(tensor):
                continue  # without a shape until the module has run
            self._add(joined(prefix, name), tensor, "parameter")
        for name, tensor in module.named_buffers():
            self._add(joined(prefix, name), tensor, "buffer")

    def _first_origin(self, tensor: torch.Tensor) -> Origin:
        """As Recorder._first_origin; a tensor that requires a gradient and is new is a parameter."""
        known = self.tensors.origins.get(id(tensor)) or self.tensors.same_elements(tensor)
        if known is None and tensor.requires_grad and tensor.is_leaf:
            self._add("leaf", tensor, "parameter")
        return super()._first_origin(tensor)

    def _note_call(self, module: torch.nn.Module, args: Any, keywords: Any) -> None:
        """Note an outermost module before it runs, and what it is called with."""
        if not self.settings:
            self.settings = settings_now()
        self.has_compiled_modules |= type(module).__name__ == COMPILED_MODULE
        if not self.found.is_known(module):
            self._add_module(module, self.found.add(module))
        if not self._depth:
            for name, tensor in arguments(module, args, keywords).items():
                self._add(name, tensor, "input")

    def _note_return(self, module: torch.nn.Module, output: Any) -> None:
        if unwrapped(module) is next(iter(self.found.roots.values()), None):
            self._returned = tensors_by_name("output", output)

    def _note_update(self, optimizer: torch.optim.Optimizer) -> None:
        """Note what an optimizer holds for each parameter, by the names of both, before it updates."""
        for name, tensor in self._held_by(optimizer):
            self._add(name, tensor, "optimizer")

    def _note_updated(self, optimizer: torch.optim.Optimizer) -> None:
        """Note what an optimizer has made in its first update."""
        for name, tensor in self._held_by(optimizer):
            if name not in self.given:
                self.made[name] = tensor

    def _held_by(self, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, torch.Tensor]]:
        for parameter, held in optimizer.state.items():
            name = self._names.get(id(parameter))
            for key, tensor in held.items() if name else ():
                if isinstance(tensor, torch.Tensor):
                    yield f"{name}.{key}", tensor

    # Results

    def results(self) -> dict[str, Origin]:
        """The losses; of a step without a pass, what the first of its outermost modules returned."""
        if self.losses:
            return self.losses
        outputs: dict[str, Origin] = {}
        for name, tensor in self._returned.items():
            outputs[name] = self.origin(tensor)
        return outputs

    # Passes

    @property
    def compiled(self) -> int:
        """How many compiled parts the passes went through."""
        return sum(node.name() == COMPILED_NODE for node in self.tape.walked)

    def _note_pass(self, started: Pass) -> None:
        if self not in _get_current_dispatch_mode_stack():
            return  # in another thread
        heads = [head for head in started.heads if isinstance(head, torch.Tensor)]
        self.has_unknown_heads |= len(heads) < len(started.heads)
        if not self._depth:
            for head in heads:
                self._note_loss(head)
            for seed in started.seeds:
                if seed is not None:
                    self._note_seed(self.origin(seed)[0])
        self.tape.expect_pass(heads)
        self._depth += 1
        self.phase = "backward"

    def _note_loss(self, head: torch.Tensor) -> None:
        origin = self.origin(head)
        if origin not in self.losses.values():
            self.losses[free_name("loss", self.losses)] = origin

    def _note_seed(self, number: int) -> None:
        """PyTorch has made the cotangent just before the pass: it belongs to backward."""
        record = self.records[number]
        if record.op == DETACH and record.phase == "forward":
            # Where the cotangent is held, PyTorch hands on an alias of it (2.13).
            record.phase = "backward"
            record = self.records[record.origins[0][0]]
        if record.op == SEED and record.phase == "forward":
            record.phase, record.kind, record.name = "backward", "constant", SEED_NAME

    def _note_gradients_left(self) -> None:
        """Note gradients that something else than the leaf's own node has written, as a sum over ranks is."""
        for name, leaf in self.given.items():
            if leaf.grad is None or f"d{name}" not in self.gradients:
                continue
            origin = self.tensors.origins.get(id(leaf.grad))
            origin = origin or self.tensors.same_elements(leaf.grad)
            if origin is not None:
                self.gradients[f"d{name}"] = origin

    def _note_pass_end(self, ended: Pass, result: Sequence[Any] | None) -> None:
        if not self._depth or self not in _get_current_dispatch_mode_stack():
            return
        self._depth -= 1
        self._has_passed = True
        self.phase = "backward" if self._depth else "forward"
        if not self._depth:
            self._note_gradients_left()
        for leaf, gradient in zip(ended.inputs, result or (), strict=False):
            name = self._names.get(id(leaf))
            if name is not None and isinstance(gradient, torch.Tensor):
                self.gradients[f"d{name}"] = self.origin(gradient)
