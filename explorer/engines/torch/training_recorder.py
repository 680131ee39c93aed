"""Records the steps of a training that runs in this process, without a change to what it computes."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.optim.swa_utils import AveragedModel
from torch.utils._mode_utils import no_dispatch

from explorer.engines.random_digests import digest_of
from explorer.engines.torch.found_modules import (
    LastingModules,
    arguments,
    held_in,
    tensors_by_name,
)
from explorer.engines.torch.loss_readings import readings, targets
from explorer.engines.torch.settings import random_states
from explorer.engines.torch.step_trace import versions
from explorer.engines.torch.tensors import array_of, dtype_of
from explorer.engines.torch.versions import offered
from explorer.engines.torch.watched_passes import Pass, WatchedPasses
from explorer.model.arrays import Array, first_elements
from explorer.model.failures import Failure
from explorer.model.graph import Arguments
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start
from explorer.model.training import Batch, Group, TrainingStep
from explorer.numeric.summaries import brief

WITHOUT_EFFECT = frozenset(("params", "foreach", "fused", "capturable", "differentiable"))
"""What of a group's settings is none of its rule: how it is computed, and the parameters themselves."""

MULTIPLE = 1e-5
"""A share of the greatest element, up to which a gradient is another one times a number."""


class _Pass(NamedTuple):
    """A backward pass: what it was given, the losses that it began with, the gradients that it has added."""

    data: dict[str, Array]
    carried: dict[str, Array]
    read: dict[str, Array]
    has_read_more: bool
    losses: list[torch.Tensor]
    added: dict[str, Array]


class _Update(NamedTuple):
    """An update: groups with their settings, and gradients as backward left and as the optimizer got them."""

    groups: list[tuple[list[torch.Tensor], Arguments]]
    gradients: dict[str, Array]
    given: list[tuple[torch.Tensor, Array]]


class _Passing:
    """What is known of the step that runs: its passes, and what clipping, scaler and optimizers did."""

    def __init__(self) -> None:
        self.random = random_states()
        self.data: dict[str, Array] = {}
        self.carried: dict[str, Array] = {}
        self.read: dict[str, Array] = {}
        self.has_read_more = False
        self.has_hooks = False
        self.returned: dict[Any, torch.Tensor] = {}
        self.passes: list[_Pass] = []
        self.before: dict[int, torch.Tensor] = {}
        self.totals: dict[int, torch.Tensor] = {}
        self.made: set[str] = set()
        self.unscaled: dict[int, torch.Tensor] = {}
        self.scale: torch.Tensor | None = None
        self.norm: torch.Tensor | None = None
        self.skipped = False
        self.gradients: dict[str, Array] = {}
        self.updates: list[_Update] = []


class TrainingInTorch:
    """Records each step between begin() and end(): what it was given, computed and left.

    ``model`` is a module, or modules by a prefix of their names; without it, modules are found as
    they run. ``average`` is a module with averages of the weights. Once something in here fails, that
    is its ``fault``, and nothing more is recorded; the training goes on.
    """

    framework = "torch"

    def __init__(self, model: Any = None, average: Any = None) -> None:
        known = model if isinstance(model, Mapping) else {"": model} if model is not None else {}
        self._start: dict[str, Start] = {}
        self.fault: Exception | None = None
        self._average = average
        self._names: dict[int, str] = {}
        self._optimizers: dict[int, torch.optim.Optimizer] = {}
        self._depth = 0
        self._made: set[str] = set()
        self._now = _Passing()
        self._entered = ExitStack()
        called, returned = self._guarded(self._note_call), self._guarded(self._note_return)
        self._found = LastingModules(known, called, returned)
        self._guarded(self._note_start)(known)

    # A step

    def begin(self) -> None:
        """Begin to record a step."""
        self._now = _Passing()
        self._depth = 0
        if self.fault is not None:
            return
        guarded = self._guarded
        update = guarded(self._note_update)
        owner, norm = offered("norm")
        hook = register_optimizer_step_pre_hook(lambda optimizer, *_: update(optimizer))
        self._entered.callback(hook.remove)
        for entered in (
            self._found,
            WatchedPasses(guarded(self._note_pass), guarded(self._note_pass_end)),
            _after(owner, norm, guarded(self._note_norm)),
            _after(offered("scaler"), "scale", guarded(self._note_scaled)),
            _after(offered("scaler"), "step", guarded(self._note_scaler_step)),
            _after(AveragedModel, "update_parameters", guarded(self._note_average)),
            _after(saved_tensors_hooks, "__enter__", guarded(self._note_hooks)),
        ):
            self._entered.enter_context(entered)

    def end(self, number: int) -> TrainingStep | None:
        """What was recorded of the step; nothing of it is left in PyTorch."""
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
                # What this computes is none of the program's, whoever watches that.
                with no_dispatch(), torch.no_grad():
                    return note(*args)
            except Exception as error:
                self.fault = error
                return None

        return run

    # What is recorded of all steps

    @property
    def start(self) -> tuple[Start, ...]:
        """The parameters and buffers as the first step found them."""
        return tuple(self._start.values())

    @property
    def optimizer(self) -> str:
        """The classes of the optimizers, with their modules."""
        names: dict[str, None] = {}
        for optimizer in self._optimizers.values():
            kind = type(optimizer)
            names[f"{kind.__module__}.{kind.__qualname__}"] = None
        return ", ".join(names)

    @property
    def device(self) -> str:
        """The devices of the parameters."""
        return ", ".join(sorted({start.device for start in self._start.values()}))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what the training depends on."""
        return versions()

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not recorded."""
        if self.fault is None:
            return ()
        return (Missing("fault", error=Failure(type(self.fault).__name__, str(self.fault))),)

    # Modules

    def _note_start(self, prefixes: Iterable[str]) -> None:
        """Note what the roots with these prefixes hold."""
        new = frozenset(prefixes)
        for prefix, name, tensor, role in self._held():
            if prefix in new:
                self._names.setdefault(id(tensor), name)
                value, device = _packed(tensor), str(tensor.device)
                start = Start(name, role, value, device, tensor.requires_grad)
                self._start.setdefault(name, start)

    def _held(self) -> Iterator[tuple[str, str, torch.Tensor, Any]]:
        """What the roots hold: the prefix of the root, name, tensor, role; what several hold once."""
        seen: set[int] = set()
        for prefix, module in self._found.roots.items():
            for name, tensor, role in held_in(module, prefix):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield prefix, name, tensor, role

    def _note_call(self, module: torch.nn.Module, args: Any, keywords: Any) -> None:
        if not self._found.is_known(module) and next(held_in(module, ""), None) is not None:
            self._note_start([self._found.add(module)])
        for name, tensor in arguments(module, args, keywords).items():
            # What a module returned, or an operator made of it, is no data, in the next step neither.
            if isinstance(tensor, torch.nn.Parameter):
                continue  # as compiled functions take them
            digest = _digest(tensor) if self._made or self._now.made else ""
            if digest in self._made:
                self._now.carried.setdefault(name, _packed(tensor))
            elif tensor.grad_fn is None and digest not in self._now.made:
                self._now.data.setdefault(name, _packed(tensor))

    def _note_return(self, _module: torch.nn.Module, output: Any) -> None:
        tensors = list(tensors_by_name("output", output).values())
        self._now.made.update(map(_digest, tensors))
        for tensor in tensors:
            if tensor.grad_fn is not None:
                self._now.returned[tensor.grad_fn] = tensor.detach()

    def _name(self, parameter: torch.Tensor) -> str:
        """The name of a parameter; of one that no module holds, its number."""
        if id(parameter) not in self._names:
            for _prefix, name, tensor, _role in self._held():
                self._names.setdefault(id(tensor), name)
        return self._names.setdefault(id(parameter), f"leaf{len(self._names)}")

    # Passes

    def _note_hooks(self, *_: Any) -> None:
        self._now.has_hooks |= self._found.is_idle

    def _note_pass(self, started: Pass) -> None:
        if not self._depth:
            for name, target in targets(started.heads, self._now.returned):
                if self._is_new(target):
                    self._now.data.setdefault(name, _packed(target))
            # What hooks have packed is not unpacked: that may compute it again.
            if self._now.has_hooks:
                self._now.has_read_more = True
            elif self._now.returned:
                read = readings(started.heads, self._now.returned)
                self._now.has_read_more |= not read.is_whole
                new = {name: it for name, it in read.tensors.items() if self._is_new(it)}
                self._now.read |= {name: _packed(tensor) for name, tensor in new.items()}
        if not self._depth and self._now.passes:
            held = {id(weight): weight.grad for weight in self._parameters()}
            gradients = {key: value for key, value in held.items() if value is not None}
            self._now.before = {key: value.detach().clone() for key, value in gradients.items()}
        self._depth += 1

    def _is_new(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is none of the data that are known, and nothing that a module returned."""
        return (
            _packed(tensor) not in self._now.data.values() and _digest(tensor) not in self._now.made
        )

    def _note_pass_end(self, ended: Pass, _result: Any) -> None:
        self._depth -= 1
        if self._depth or ended.inputs:
            return  # inside of another pass, or one whose gradients the program takes itself
        heads = [head for head in ended.heads if isinstance(head, torch.Tensor)]
        losses = [self._now.unscaled.pop(id(head), head).detach().clone() for head in heads]
        self._now.gradients = dict(self._gradients(self._parameters()))
        self._add_up()
        added = dict(self._added()) if self._now.passes else self._now.gradients
        now = self._now
        made = _Pass(now.data, now.carried, now.read, now.has_read_more, losses, added)
        now.passes.append(made)
        now.data, now.carried, now.read, now.returned = {}, {}, {}, {}
        now.has_read_more = False

    def _parameters(self) -> Iterator[torch.Tensor]:
        for module in self._found.roots.values():
            yield from module.parameters()
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                yield from group["params"]

    def _gradients(self, parameters: Iterable[torch.Tensor]) -> Iterator[tuple[str, Array]]:
        seen = set()
        for parameter in parameters:
            if id(parameter) not in seen and parameter.grad is not None:
                seen.add(id(parameter))
                yield self._name(parameter), _packed(parameter.grad)

    def _add_up(self) -> None:
        """Add the pass to the totals, which are the gradients unless a program takes these away."""
        for parameter in dict.fromkeys(self._parameters()):
            if parameter.grad is None:
                continue
            gradient = _dense(parameter.grad)
            total = self._now.totals.get(id(parameter))
            if total is None:
                self._now.totals[id(parameter)] = gradient.clone()
            else:
                before = self._now.before.get(id(parameter))
                total += gradient if before is None else gradient - _dense(before)

    def _added(self) -> Iterator[tuple[str, Array]]:
        """What the last pass has added to the gradients."""
        for parameter in dict.fromkeys(self._parameters()):
            if parameter.grad is not None:
                before = self._now.before.get(id(parameter))
                added = parameter.grad if before is None else parameter.grad - before
                yield self._name(parameter), _packed(added)

    # Between the passes and the update

    def _note_norm(self, norm: torch.Tensor, *_: Any) -> None:
        self._now.norm = norm.detach().clone()

    def _note_scaled(self, scaled: Any, scaler: Any, outputs: Any) -> None:
        if isinstance(scaled, torch.Tensor) and scaler.is_enabled():
            self._now.unscaled[id(scaled)] = outputs.detach()
            self._now.scale = scaler._scale.detach().clone()

    def _note_scaler_step(self, _result: Any, scaler: Any, optimizer: Any, *_: Any) -> None:
        if scaler.is_enabled():
            found = scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
            self._now.skipped |= any(bool(flag.item()) for flag in found.values())

    def _note_average(self, _result: Any, average: AveragedModel, *_: Any) -> None:
        self._average = self._average or average

    def _note_update(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizers.setdefault(id(optimizer), optimizer)
        groups = [(list(group["params"]), _settings(group)) for group in optimizer.param_groups]
        parameters = [parameter for of_group, _settings in groups for parameter in of_group]
        given = [(one, _packed(one.grad)) for one in parameters if one.grad is not None]
        gradients = self._now.gradients
        if len(self._now.passes) > 1 and not self._is_multiple(given):
            # The program adds up by itself what each pass has left.
            totals = ((one, self._now.totals.get(id(one))) for one, _given in given)
            gradients = gradients | {
                self._name(one): _packed(total) for one, total in totals if total is not None
            }
        for parameter in parameters:
            self._now.totals.pop(id(parameter), None)
        # A pass that comes behind it adds to what it will be given next.
        self._now.updates.append(_Update(groups, gradients, given))

    def _is_multiple(self, given: Iterable[tuple[torch.Tensor, Array]]) -> bool:
        """Whether gradients are those that the last pass has left, times some number."""
        names = {self._name(one): array for one, array in given}
        pairs = [
            (array, self._now.gradients[name])
            for name, array in names.items()
            if name in self._now.gradients
        ]
        if not pairs:
            return True
        one, last = (
            np.concatenate([first_elements(array).astype(np.float64) for array in side])
            for side in zip(*pairs, strict=True)
        )
        with np.errstate(all="ignore"):  # gradients may overflow
            square = last @ last
            rest = one - (one @ last) / square * last if square else one
            return bool(np.abs(rest).max(initial=0.0) <= MULTIPLE * np.abs(one).max(initial=0.0))

    # The end of a step

    def _step(self, number: int) -> TrainingStep:
        now = self._now
        weights: dict[str, Array] = {}
        buffers: dict[str, Array] = {}
        for _prefix, name, tensor, role in self._held():
            (buffers if role == "buffer" else weights)[name] = _packed(tensor)
        batches = []
        for made in now.passes:
            # Of a loss that is not reduced, and gets a cotangent of ones, the sum is differentiated.
            loss = sum(float(loss.sum()) for loss in made.losses) if made.losses else None
            of_pass = _leaves(made.added) if len(now.passes) > 1 else ()
            more = _leaves(made.carried), _leaves(made.read), made.has_read_more
            batches.append(Batch(_leaves(made.data), loss, of_pass, *more))
        groups, given, gradients = self._updated()
        return TrainingStep(
            number=number,
            batches=tuple(batches),
            scale=None if now.scale is None else now.scale.item(),
            skipped=now.skipped,
            gradients=_leaves(gradients),
            norm=None if now.norm is None else now.norm.item(),
            given=_leaves(given),
            groups=tuple(groups),
            weights=_leaves(weights),
            buffers=_leaves(buffers),
            state=_leaves(dict(self._state())),
            averages=_leaves(dict(self._averages())),
            random=now.random,
        )

    def _updated(self) -> tuple[list[Group], dict[str, Array], dict[str, Array]]:
        """The groups of all updates, what their optimizers got, and gradients as backward left them.

        Parameters have their names only now: a closure may have been their module's first use.
        """
        groups: list[Group] = []
        given: dict[str, Array] = {}
        gradients = dict(self._now.gradients)
        for update in self._now.updates:
            names = [tuple(map(self._name, some)) for some, _settings in update.groups]
            groups += map(Group, names, (settings for _some, settings in update.groups))
            given.update({self._name(parameter): array for parameter, array in update.given})
            of_update = frozenset(chain.from_iterable(names))
            gradients |= {key: it for key, it in update.gradients.items() if key in of_update}
        return groups, given, gradients

    def _state(self) -> Iterator[tuple[str, Array]]:
        for optimizer in self._optimizers.values():
            for parameter, held in optimizer.state.items():
                for key, value in held.items() if isinstance(held, dict) else ():
                    if isinstance(value, (int, float)):
                        value = torch.tensor(float(value))
                    if isinstance(value, torch.Tensor):
                        yield f"{self._name(parameter)}.{key}", _packed(value)

    def _averages(self) -> Iterator[tuple[str, Array]]:
        average = getattr(self._average, "module", self._average)
        for name, tensor in average.named_parameters() if average is not None else ():
            yield name, _packed(tensor)


def _packed(tensor: torch.Tensor) -> Array:
    tensor = _dense(tensor)
    return brief(array_of(tensor), dtype_of(tensor))


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def _digest(tensor: torch.Tensor) -> str:
    """What tells the values of a tensor: it may be detached, or copied, before it is used."""
    return digest_of(array_of(_dense(tensor)))


def _leaves(arrays: Mapping[str, Array]) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, array) for name, array in arrays.items())


def _settings(group: Mapping[str, Any]) -> Arguments:
    """The settings of a group that are plain values, or a few of such; rates may be tensors."""
    settings: Arguments = {}
    for key, value in group.items():
        if key in WITHOUT_EFFECT:
            continue
        if isinstance(value, (tuple, list)):
            items = tuple(map(_plain, value))
            if all(isinstance(item, PLAIN) for item in items):
                settings[key] = items
        elif isinstance(plain := _plain(value), PLAIN):
            settings[key] = plain
    return settings


PLAIN = (bool, int, float, str, type(None))
"""The types of settings."""


def _plain(value: Any) -> Any:
    is_number = isinstance(value, torch.Tensor) and value.numel() == 1
    return value.item() if is_number else value


@contextmanager
def _after(owner: Any, name: str, note: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile ``note`` is called with what a function returns, and with its arguments."""
    original = vars(owner)[name]

    @functools.wraps(original)
    def watched(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        note(result, *args)
        return result

    setattr(owner, name, watched)
    try:
        yield
    finally:
        setattr(owner, name, original)
