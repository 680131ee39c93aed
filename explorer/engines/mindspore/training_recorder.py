"""Records the steps of a training that runs in this process, without a change to what it computes."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.engines.mindspore.dispatch import node_of
from explorer.engines.mindspore.found_cells import WRAPPERS, is_of_function, is_optimizer
from explorer.engines.mindspore.net import HeldTensor, array_of, dtype_of, held_in
from explorer.engines.mindspore.optimizers import groups, state
from explorer.engines.mindspore.settings import random_states
from explorer.engines.mindspore.step_trace import versions
from explorer.engines.mindspore.tape_tensors import tensors_in
from explorer.engines.mindspore.watched_executor import WatchedExecutor, named_parts
from explorer.engines.random_digests import digest_of
from explorer.engines.repacking import repacked
from explorer.engines.step_names import free_name, joined, nested_tensors, numbered
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.requests import Repacked
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start, fault
from explorer.model.training import Batch, Group, TrainingStep
from explorer.numeric.summaries import brief
from explorer.scenario.layouts import to_torch

STATISTICS = ("running_mean", "running_var")
"""What MindSpore holds in parameters that are not trained, and PyTorch in buffers."""

SCALERS = (ms.amp.DynamicLossScaler, ms.amp.StaticLossScaler)


class _Pass(NamedTuple):
    """A backward pass: what it was given, its loss without the scale, and the gradients that it gave."""

    data: dict[str, Array]
    carried: dict[str, Array]
    loss: float | None
    added: dict[str, Array]


class _Passing:
    """What is known of the step that runs: its passes, and what clipping, scaler and optimizers did."""

    def __init__(self) -> None:
        self.random = random_states()
        self.data: dict[str, Array] = {}
        self.carried: dict[str, Array] = {}
        self.made: set[str] = set()
        self.heads: dict[int, list[Any]] = {}
        self.head: Any = None
        self.function: Any = None
        self.unscaled: Any = None
        self.scale: float | None = None
        self.passes: list[_Pass] = []
        self.norm: float | None = None
        self.given: dict[str, Array] = {}
        self.left: dict[str, Array] = {}
        self.taken: dict[int, int] = {}
        self.groups: list[Group] = []
        self.compiled = 0


class TrainingInMindSpore:
    """Records each step between begin() and end(): what it was given, computed and left.

    ``model`` is a Cell, or Cells by a prefix of their names; without it, Cells are found as they run.
    ``average`` is a Cell with averages of the weights. ``held`` has what a Cell holds by other names than
    the usual ones, and ``pieces`` what it holds in other pieces than PyTorch. Once something in here fails,
    that is its ``fault``, and nothing more is recorded; the training goes on. What is compiled as a whole
    is not seen inside.
    """

    framework = "mindspore"

    def __init__(
        self,
        model: Any = None,
        average: Any = None,
        *,
        held: Mapping[str, HeldTensor] | None = None,
        pieces: Sequence[Repacked] = (),
    ) -> None:
        self.fault: Exception | None = None
        self._average = average
        self._pieces = tuple(pieces)
        self._start: dict[str, Start] = {}
        self._roots: dict[str, Any] = {}
        self._held: dict[str, HeldTensor] = {}
        self._by_id: dict[int, HeldTensor] = {}
        self._optimizers: dict[int, Any] = {}
        self._depth = 0
        self._compiled = 0
        self._made: set[str] = set()
        self._now = _Passing()
        self._entered = ExitStack()
        known = model if isinstance(model, Mapping) else {"": model} if model is not None else {}
        for prefix, cell in known.items():
            self._guarded(self._add)(cell, prefix, held)

    # A step

    def begin(self) -> None:
        """Begin to record a step."""
        self._now = _Passing()
        self._depth = 0
        if self.fault is not None:
            return
        self._entered.enter_context(_around(nn.Cell, "__call__", self._called))
        self._entered.enter_context(WatchedExecutor(self))
        norm = self._before(self._note_norm)
        self._entered.enter_context(_around(ops, "clip_by_global_norm", norm))
        for scaler in SCALERS:
            scaled = self._before(self._note_scale)
            self._entered.enter_context(_around(scaler, "scale", scaled))

    def end(self, number: int) -> TrainingStep | None:
        """What was recorded of the step; nothing of it is left in MindSpore."""
        self._entered.close()
        step: TrainingStep | None = self._guarded(self._step)(number)
        self._made = self._now.made
        self._now = _Passing()
        return step

    def _guarded(self, note: Callable[..., Any]) -> Callable[..., Any]:
        """A function of this recorder's that never raises, and does nothing once one has failed."""

        def run(*args: Any) -> Any:
            if self.fault is not None:
                return None
            try:
                with ms._no_grad():
                    return note(*args)
            except Exception as error:
                self.fault = error
                return None

        return run

    def _before(self, note: Callable[..., Any]) -> Callable[..., Any]:
        """A function around another one, which notes the arguments and hands them on."""
        guarded = self._guarded(note)

        def run(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            guarded(*args)
            return original(*args, **kwargs)

        return run

    # What is recorded of all steps

    @property
    def start(self) -> tuple[Start, ...]:
        """The parameters and buffers as the first step found them."""
        return tuple(self._start.values())

    @property
    def optimizer(self) -> str:
        """The classes of the optimizers, with their modules."""
        kinds = map(type, self._optimizers.values())
        return ", ".join(dict.fromkeys(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds))

    @property
    def device(self) -> str:
        """The device that MindSpore runs on."""
        return str(ms.get_context("device_target")).lower()

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what the training depends on."""
        return versions()

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not recorded."""
        missing = () if self.fault is None else (fault(self.fault),)
        compiled = (Missing("compiled_calls", str(self._compiled)),) if self._compiled else ()
        return (*missing, *compiled)

    # Cells

    def _add(self, cell: Any, prefix: str, given: Mapping[str, HeldTensor] | None = None) -> None:
        self._roots[prefix] = cell
        for name, held in (given or held_in(cell)).items():
            # Plain tensors are none of what a training changes.
            if held.role == "constant" or id(held.tensor) in self._by_id:
                continue
            full = joined(prefix, name)
            self._held[full] = self._by_id[id(held.tensor)] = replace(held, name=full)
            array = _in_torch_layout(held, held.tensor)
            role: Any = "buffer" if _is_buffer(held) else "parameter"
            value = brief(unpack(array), array.dtype)
            self._start[full] = Start(full, role, value, self.device, held.role == "trained")

    def _called(self, original: Callable[..., Any], cell: Any, *args: Any, **kwargs: Any) -> Any:
        if is_optimizer(cell):
            # What runs inside is none of the net: a schedule is a Cell that holds parameters too.
            self._depth += 1
            try:
                self._guarded(self._note_update)(cell, args)
                return original(cell, *args, **kwargs)
            finally:
                self._depth -= 1
        if type(cell).__name__ in WRAPPERS:
            return original(cell, *args, **kwargs)
        if not self._depth and not is_of_function(cell):
            self._guarded(self._note_call)(cell, args, kwargs)
        self._depth += 1
        try:
            result = original(cell, *args, **kwargs)
        finally:
            self._depth -= 1
        if not self._depth:
            self._guarded(self._note_return)(result)
        return result

    def _note_return(self, result: Any) -> None:
        self._now.made.update(map(_digest, tensors_in((result,))))

    def _note_call(self, cell: Any, args: Any, keywords: Mapping[str, Any]) -> None:
        is_known = any(root is cell for root in self._roots.values())
        if not is_known and next(cell.parameters_and_names(), None) is not None:
            prefix = "" if "" not in self._roots else free_name(type(cell).__name__, self._roots)
            self._add(cell, prefix)
        named = {**dict(zip(_names(cell), args, strict=False)), **keywords}
        for name, value in named.items():
            for path, tensor in nested_tensors(name, value, ms.Tensor):
                # What a Cell returned, or an operator made of it, is no data, in the next step neither.
                digest = _digest(tensor) if self._made or self._now.made else ""
                if digest in self._made:
                    self._now.carried.setdefault(path, _packed(tensor))
                elif _is_leaf(tensor) and digest not in self._now.made:
                    value = _packed(tensor)
                    if not self._is_gradient(value):
                        self._now.data.setdefault(path, value)

    def _is_gradient(self, value: Array) -> bool:
        """Whether a pass of this step has given it: a Cell may clip gradients."""
        return any(value in one.added.values() for one in self._now.passes)

    # Passes, as a Watcher of the executor

    def forward_ends(self, function: Any, outputs: Any) -> None:
        """A function that will be differentiated has returned ``outputs``."""
        self._now.heads[id(function)] = list(tensors_in((outputs,)))

    def pass_begins(self, function: Any, is_aux: bool) -> None:
        """Its gradient begins to be computed."""
        self._now.function = function
        heads = self._now.heads.pop(id(function), [])
        self._now.head = heads[:1] if is_aux else heads

    def pass_ends(
        self, operation: Any, weights: Any, position: Any, args: Any, result: Any
    ) -> None:
        """It was computed: ``result``."""
        self._guarded(self._note_pass)(operation, weights, position, args, result)

    def compiled_starts(self, _args: tuple[Any, ...]) -> None:
        """A compiled function is called: nothing is seen inside."""
        self._now.compiled += 1

    def compiled_ends(self, _started: None, _result: Any) -> None:
        """It has returned."""

    def _note_pass(
        self, operation: Any, weights: Any, position: Any, args: Any, result: Any
    ) -> None:
        of_arguments, of_weights = named_parts(operation, weights, position, args)
        if of_weights is None or result is None:
            return  # of the program's own use, or it has raised
        self._note_arguments(args)
        gradients = result if of_arguments is None else result[1]
        leaves = of_weights if isinstance(of_weights, (tuple, list)) else (of_weights,)
        added = dict(self._of_weights(leaves, tensors_in((gradients,))))
        heads = [self._now.unscaled] if self._now.unscaled is not None else self._now.head
        loss = sum(float(array_of(head).sum()) for head in heads) if heads else None
        self._now.passes.append(_Pass(self._now.data, self._now.carried, loss, added))
        self._now.data, self._now.carried, self._now.unscaled = {}, {}, None

    def _note_arguments(self, args: Any) -> None:
        """Note what the differentiated function was given beside what Cells are called with: labels."""
        for name, value in zip(_names(self._now.function), args, strict=False):
            for path, tensor in nested_tensors(name, value, ms.Tensor):
                known = self._now.made | self._made
                if _is_leaf(tensor) and not (known and _digest(tensor) in known):
                    packed = _packed(tensor)
                    if packed not in self._now.data.values():
                        self._now.data.setdefault(path, packed)

    def _of_weights(
        self, weights: Iterable[Any], values: Iterable[Any]
    ) -> Iterator[tuple[str, Array]]:
        for weight, value in zip(weights, values, strict=False):
            yield self._name(weight), self._as_weight(weight, value)

    def _name(self, weight: Any) -> str:
        held = self._by_id.get(id(weight))
        return weight.name if held is None else held.name

    def _as_weight(self, weight: Any, value: Any) -> Array:
        held = self._by_id.get(id(weight))
        if held is None or value.shape != weight.shape:
            return pack(array_of(value), dtype_of(value))
        return _in_torch_layout(held, value)

    # Between the passes and the update

    def _note_norm(self, gradients: Any, *_: Any) -> None:
        squares = (np.square(array_of(part), dtype=np.float64) for part in tensors_in((gradients,)))
        self._now.norm = float(np.sqrt(sum(float(square.sum()) for square in squares)))

    def _note_scale(self, scaler: Any, value: Any) -> None:
        if isinstance(value, ms.Tensor) and value.size == 1:
            self._now.unscaled = value
            self._now.scale = float(array_of(scaler.scale_value))

    def _note_update(self, optimizer: Any, args: Any) -> None:
        self._optimizers.setdefault(id(optimizer), optimizer)
        gradients = tensors_in(args)
        self._now.given.update(self._of_weights(optimizer.parameters, gradients))
        of_update = groups(optimizer, self._names())
        self._now.groups += of_update
        # Of several updates in a step each has the passes since the one before it.
        first = self._now.taken.get(id(optimizer), 0)
        self._now.taken[id(optimizer)] = len(self._now.passes)
        sums = _summed(one.added for one in self._now.passes[first:])
        names = [name for group in of_update for name in group.names]
        self._now.left.update({name: sums[name] for name in names if name in sums})

    def _names(self) -> dict[int, str]:
        return {key: held.name for key, held in self._by_id.items()}

    # The end of a step

    def _step(self, number: int) -> TrainingStep:
        now = self._now
        # Optimizers are compiled too: only where no pass was seen, a step was.
        self._compiled += 0 if now.passes else now.compiled
        batches = []
        for data, carried, loss, added in now.passes:
            of_pass = self._leaves(added) if len(now.passes) > 1 else ()
            batches.append(Batch(self._leaves(data), loss, of_pass, self._leaves(carried)))
        return TrainingStep(
            number=number,
            batches=tuple(batches),
            scale=now.scale,
            skipped=bool(now.passes) and now.scale is not None and not now.groups,
            gradients=self._leaves({**_summed(one.added for one in now.passes), **now.left}),
            norm=now.norm,
            given=self._leaves(now.given),
            groups=tuple(now.groups),
            weights=self._leaves(self._kept(is_buffer=False)),
            buffers=self._leaves(self._kept(is_buffer=True)),
            state=self._leaves(dict(self._state())),
            averages=self._leaves(dict(self._averages())),
            random=now.random,
        )

    def _kept(self, *, is_buffer: bool) -> dict[str, Array]:
        kept = {name: held for name, held in self._held.items() if _is_buffer(held) == is_buffer}
        return {name: _in_torch_layout(held, held.now()) for name, held in kept.items()}

    def _state(self) -> Iterator[tuple[str, Array]]:
        names = self._names()
        for optimizer in self._optimizers.values():
            owners = {self._name(weight): weight for weight in optimizer.parameters}
            for name, key, value in state(optimizer, names):
                yield f"{name}.{key}", self._as_weight(owners[name], value)

    def _averages(self) -> Iterator[tuple[str, Array]]:
        for name, held in held_in(self._average).items() if self._average is not None else ():
            if held.role == "trained":
                yield name, _in_torch_layout(held, held.now())

    def _leaves(self, arrays: Mapping[str, Array]) -> tuple[Leaf, ...]:
        """Tensors by their names, of large ones excerpts; parameters in PyTorch's pieces."""
        # The names of gradients, by which pieces are found.
        whole = [Leaf(f"d{name}", array) for name, array in arrays.items()]
        _tree, leaves = repacked("", whole, self._pieces)
        brief_ones = (brief(unpack(leaf.value), leaf.value.dtype) for leaf in leaves)
        return tuple(
            Leaf(leaf.name[1:], value) for leaf, value in zip(leaves, brief_ones, strict=True)
        )


LEAF = 2**64 - 1
"""The number that the tape gives to what no operator has made (2.10.0)."""


def _names(function: Any) -> Iterator[str]:
    """The names of the positional parameters of a function or a Cell."""
    try:
        called = getattr(function, "construct", function)
        return numbered(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return numbered(())


def _is_leaf(tensor: Any) -> bool:
    node = node_of(tensor)
    return node is None or node._sequence_nr() == LEAF


def _summed(parts: Iterable[Mapping[str, Array]]) -> dict[str, Array]:
    """Gradients added up, as the program adds them: in their own dtype."""
    sums: dict[str, AnyArray] = {}
    dtypes: dict[str, str] = {}
    for part in parts:
        for name, array in part.items():
            dtypes[name] = array.dtype
            sums[name] = sums[name] + unpack(array) if name in sums else unpack(array)
    return {name: pack(array, dtypes[name]) for name, array in sums.items()}


def _packed(tensor: Any) -> Array:
    return pack(array_of(tensor), dtype_of(tensor))


def _digest(tensor: Any) -> str:
    """What tells the values of a tensor: its gradient may be stopped before it is used."""
    return digest_of(array_of(tensor))


def _in_torch_layout(held: HeldTensor, value: Any) -> Array:
    return pack(to_torch(array_of(value), held.layout), dtype_of(value))


def _is_buffer(held: HeldTensor) -> bool:
    is_statistic = held.name.rpartition(".")[2] in STATISTICS
    return held.role == "buffer" or (held.role == "frozen" and is_statistic)


@contextmanager
def _around(owner: Any, name: str, around: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile a function is called through ``around``, which gets it before its arguments."""
    original = vars(owner)[name]

    @functools.wraps(original)
    def watched(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    setattr(owner, name, watched)
    try:
        yield
    finally:
        setattr(owner, name, original)
