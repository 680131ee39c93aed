"""Records the steps of a training that runs in this process, without a change to what it computes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from explorer.engines.jax.leaf_names import Leaf as HeldArray
from explorer.engines.jax.leaf_names import in_torch, is_turned, leaves, turned
from explorer.engines.jax.modules import STATISTICS
from explorer.engines.jax.optimizers import (
    Link,
    clip,
    clipped,
    is_same,
    kind,
    only_one,
    total_norm,
)
from explorer.engines.jax.optimizers import settings as settings_of
from explorer.engines.jax.recording import Found
from explorer.engines.jax.step_recorder import StepRecorder, variables
from explorer.engines.jax.step_recording import Given, Pass, StepRecording
from explorer.engines.jax.step_trace import device_of, laid_out, versions
from explorer.engines.jax.tensors import array_of, dtype_of, is_floating, is_plain
from explorer.engines.random_digests import of_python
from explorer.engines.step_facts import by_prefix, gaps
from explorer.engines.step_limits import free_memory, half_of
from explorer.model.arrays import Array
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start, StartRole
from explorer.model.training import Batch, Group, TrainingStep
from explorer.numeric.summaries import brief
from explorer.workers.garbage_collection import paused


class Update(NamedTuple):
    """An update of a step: the parameters ``given`` to an optimizer and those that it has changed.

    ``chain`` are the transformations of it, if they are known, and ``before`` its updates before this one.
    """

    given: tuple[str, ...]
    names: tuple[str, ...]
    chain: list[Link]
    before: int

    def clipped(self, gradients: Mapping[str, Any]) -> tuple[dict[str, Any], float | None]:
        """The gradients of its parameters as it has clipped them, and their norm if it did so by that."""
        own = {name: gradients[name] for name in self.given}
        by = clip(self.chain)
        if by is None:
            return own, None
        return clipped(own, *by), total_norm(own) if by[0] == "clip_by_global_norm" else None


class TrainingInJax:
    """Records each step between begin() and end(): what it was given, computed and left.

    ``model`` is a tree of parameters or a module of flax.nnx, or several by a prefix of their names;
    ``average`` is one with averages of the weights. Once something in here fails, that is its
    ``fault``, and nothing more is recorded; the training goes on. What is compiled runs once more,
    as a whole, for its losses and gradients. ``chain`` are the transformations of its optimizer, where
    they are known.
    """

    framework = "jax"

    def __init__(self, model: Any = None, average: Any = None) -> None:
        self.fault: Exception | None = None
        self.start: tuple[Start, ...] = ()
        self.device = ""
        self._models = by_prefix(model)
        self._average = average
        self._memory = half_of(free_memory())
        self._recorder: StepRecorder | None = None
        self._random: dict[str, str] = {}
        self._pause = ExitStack()
        self.chain: list[Link] = []
        self._is_full = False
        self._has_passes = False
        self._updates = 0
        self._kinds: set[str] = set()
        self._buffers: dict[str, Leaf] = {}

    # A step

    def begin(self) -> None:
        """Begin to record a step."""
        if self.fault is None:
            self._pause.enter_context(paused())
            self._random = of_python()
            self._recorder = StepRecorder(self._models, {}, self._memory, keeps_values=False)
            self._recorder.start()

    def end(self, number: int) -> TrainingStep | None:
        """What was recorded of the step; nothing of it is left in JAX."""
        with self._pause:
            return self._ended(number)

    def _ended(self, number: int) -> TrainingStep | None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return None
        recorder.stop()
        self.fault = recorder.fault
        self._is_full |= recorder.is_full
        if recorder.is_off:
            return None
        try:
            self._note_optimizer(recorder.optimizers)
            return self._step(number, recorder.recording)
        except Exception as error:
            self.fault = error
            return None

    # What is recorded of all steps

    @property
    def optimizer(self) -> str:
        """The functions of optax that have made the optimizers: "optax.adam"; "" where one is not known."""
        return "" if "" in self._kinds else ", ".join(sorted(self._kinds))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what the training depends on."""
        return versions()

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not recorded."""
        missing = tuple(gaps(self.fault, None, self._memory if self._is_full else None))
        is_blind = not (self._has_passes or missing)
        return (*missing, Missing("no_pass")) if is_blind else missing

    # The end of a step

    def _note_optimizer(self, optimizers: list[list[Link]]) -> None:
        """Note the optimizer of a step; one without a state is found where the program has no other."""
        if not self.chain:
            self.chain = (optimizers or [only_one()])[0] if len(optimizers) < 2 else []

    def _step(self, number: int, recording: StepRecording) -> TrainingStep:
        if not self.start:
            self.start = tuple(_starts(recording, _averages(recording)))
            self.device = ", ".join(sorted({start.device for start in self.start}))
        trained = {given.name for given in recording.given.values() if given.trained}
        passes = [made for made in recording.passes if not trained.isdisjoint(made.gradients)]
        self._has_passes |= bool(passes)
        added = [dict(_gradients(recording, made)) for made in passes]
        gradients = _summed(added)
        state = _state(recording)
        updates = list(self._made_updates(recording, added, state))
        self._updates = max((it.before for it in updates), default=self._updates) + 1
        self._kinds |= {kind(it.chain) if it.chain else "" for it in updates}
        clipped_ones = [it.clipped(gradients) for it in updates]
        norms = [norm for _given, norm in clipped_ones if norm is not None]
        averages = _averages(recording)
        plain = _batches(recording, passes, added)
        batches = tuple(self._with_states(recording, plain, averages))
        buffers = _leaves(_floating(_left(recording, "buffer", averages)))
        self._buffers = {leaf.name: leaf for leaf in buffers}
        return TrainingStep(
            number=number,
            batches=batches,
            skipped=_is_left_out(recording, gradients),
            gradients=_leaves(gradients),
            norm=norms[0] if len(norms) == 1 else None,
            given=_leaves(
                {name: it for given, _norm in clipped_ones for name, it in given.items()}
            ),
            groups=tuple(_group(recording, it) for it in updates),
            weights=_leaves(_left(recording, "parameter")),
            buffers=buffers,
            state=_leaves({**state, **_counts(recording, updates)}),
            averages=_leaves({**_left_averages(recording, averages), **dict(self._averages())}),
            random=self._random,
        )

    def _made_updates(
        self, recording: StepRecording, added: list[dict[str, Any]], state: Mapping[str, Any]
    ) -> Iterator[Update]:
        """The updates of a step: of each net that has passes of its own, each by its chain."""
        nets = list(dict.fromkeys(map(tuple, filter(None, added))))
        if any(not set(one).isdisjoint(other) for one, other in combinations(nets, 2)):
            nets = [tuple(dict.fromkeys(name for net in nets for name in net))]
        for net in nets:
            of_chains: list[tuple[list[Link], list[str]]] = []
            for name in net:
                chain = self.chain or _chain(recording, name)
                known = next((names for one, names in of_chains if is_same(one, chain)), None)
                if known is None:
                    of_chains.append((chain, known := []))
                known.append(name)
            for chain, names in of_chains:
                before = _updates(recording, chain, self._updates)
                yield Update(tuple(names), _updated(names, state), chain, before)

    def _with_states(
        self, recording: StepRecording, batches: Iterable[Batch], averages: Collection[str]
    ) -> Iterator[Batch]:
        """Passes, the first with the buffers that it was given: left by the step before, or other ones.

        Of the first step it is not known which is a state that a program carries on, and which is held.
        """
        given = {
            one.name: laid_out(recording, one.name, recording.value((number, 0)))
            for number, one in recording.given.items()
            if one.role == "buffer"
            and one.name in self._buffers
            and one.name not in averages
            and _last(one) not in STATISTICS
        }
        leaves = _leaves(given)
        carried = tuple(leaf for leaf in leaves if leaf == self._buffers[leaf.name])
        fresh = tuple(leaf for leaf in leaves if leaf not in carried)
        for place, batch in enumerate(batches):
            yield batch if place else replace(batch, data=batch.data + fresh, carried=carried)

    def _averages(self) -> Iterator[tuple[str, Any]]:
        for steps, value in leaves(variables(self._average)):
            name = HeldArray("", steps, value).name
            yield in_torch(name), turned(value) if is_turned(name, value.ndim) else value


def _starts(recording: StepRecording, averages: Collection[str]) -> Iterator[Start]:
    for number, given in recording.given.items():
        value = recording.value((number, 0))
        is_held = given.role == "parameter" or (given.role == "buffer" and is_floating(value))
        if is_held and given.name not in averages and is_plain(value):
            array = _brief(laid_out(recording, given.name, value))
            yield Start(given.name, given.role, array, device_of(value), given.trained)


def _batches(
    recording: StepRecording,
    passes: list[Pass],
    added: list[dict[str, Any]],
) -> Iterator[Batch]:
    for made, gradients in zip(passes, added, strict=True):
        of_pass = _leaves(gradients) if len(passes) > 1 else ()
        yield Batch(_leaves(_data(recording, made)), _loss(recording, made), of_pass)


def _data(recording: StepRecording, made: Pass) -> dict[str, Any]:
    """What a net was called with: nothing that the step has made of parameters, or has changed.

    Where a loss is given nothing and has its data from around it, that is what a compiled step was given.
    """
    given = made.data
    if not given and len(recording.passes) == 1:
        arguments = recording.arguments.items()
        given = {name: origin for name, origin in arguments if np.ndim(recording.value(origin))}
    values = {
        name: recording.value(origin)
        for name, origin in given.items()
        if not recording.is_made_of_held(origin)
    }
    return {name: value for name, value in values.items() if is_plain(value)}


def _loss(recording: StepRecording, made: Pass) -> float | None:
    """The sum of what was differentiated: of a loss that is not reduced, a cotangent of ones takes it."""
    losses = [array_of(_found(recording, found)).sum() for found in made.losses]
    return float(sum(losses)) if losses else None


def _gradients(recording: StepRecording, made: Pass) -> Iterator[tuple[str, Any]]:
    for name, found in made.gradients.items():
        yield name, laid_out(recording, name, _found(recording, found))


def _found(recording: StepRecording, found: Found) -> Any:
    origin, value = found
    return value if origin is None else recording.value(origin)


def _summed(added: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    gradients: dict[str, Any] = {}
    for of_pass in added:
        for name, gradient in of_pass.items():
            gradients[name] = gradients[name] + gradient if name in gradients else gradient
    return gradients


def _is_left_out(recording: StepRecording, gradients: Mapping[str, Any]) -> bool:
    """Whether an update of gradients that are not finite was left out, as optax.apply_if_finite does."""
    if all(np.isfinite(array_of(gradient)).all() for gradient in gradients.values()):
        return False
    after = _left(recording, "parameter")
    return all(
        np.array_equal(
            array_of(laid_out(recording, given.name, recording.value((number, 0)))),
            array_of(after[given.name]),
        )
        for number, given in recording.given.items()
        if given.name in after and given.trained
    )


def _left(recording: StepRecording, role: StartRole, but: Collection[str] = ()) -> dict[str, Any]:
    """What the step has left of the arrays of a role that were there before, by name."""
    left = {}
    for number, given in recording.given.items():
        value = recording.value(recording.state.get(given.name, (number, 0)))
        if given.role == role and given.name not in but and is_plain(value):
            left[given.name] = laid_out(recording, given.name, value)
    return left


def _averages(recording: StepRecording) -> dict[str, str]:
    """The names of parameters by those of their averages: what an update has made of them and of itself.

    A program without modules keeps averages as another tree: "ema.fc.weight".
    """
    parameters = {
        origin: given
        for number, given in recording.given.items()
        for origin in ((number, 0), recording.state.get(given.name))
        if given.trained and origin
    }
    found: dict[str, str] = {}
    for given in recording.given.values():
        after = recording.state.get(given.name)
        if given.role != "buffer" or after is None:
            continue
        alike = {
            origin: one.name
            for origin, one in parameters.items()
            if _last(one) == _last(given) and one.name not in found.values()
        }
        nearest = recording.nearest(after, alike)
        shapes = {np.shape(recording.value(origin)) for origin in (after, nearest) if origin}
        if nearest and len(shapes) == 1:
            found[given.name] = alike[nearest]
    return found


def _last(given: Given) -> str:
    return given.own.rpartition(".")[2]


def _left_averages(recording: StepRecording, averages: Mapping[str, str]) -> dict[str, Any]:
    left = _left(recording, "buffer")
    return {own: left[name] for name, own in averages.items()}


def _floating(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays that are no counters."""
    return {name: array for name, array in arrays.items() if is_floating(array)}


def _state(recording: StepRecording) -> dict[str, Any]:
    """What the optimizer holds behind the step; an optimizer that runs eagerly makes it without a name."""
    held = _floating(_left(recording, "optimizer"))
    for name in recording.state.keys() - recording.taken.keys():
        value = recording.value(recording.state[name])
        parameter = name.rpartition(".")[0]
        held[name] = laid_out(recording, parameter, value)
    return held


def _updated(names: list[str], state: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of the chain: those for which it holds something, if it holds anything."""
    held = {name.rpartition(".")[0] for name in state}.intersection(names)
    return tuple(name for name in names if not held or name in held)


def _chain(recording: StepRecording, name: str) -> list[Link]:
    """The chain that has made what is held for a parameter; empty where that is not known."""
    for path, origin in recording.state.items():
        if path.rpartition(".")[0] == name and origin in recording.chains:
            return list(recording.chains[origin])
    return []


def _updates(recording: StepRecording, chain: list[Link], counted: int) -> int:
    """The updates before this step: as an optimizer counts them, or else those recorded."""
    counters = recording.counters.values()
    own = [one for one in counters if is_same(list(recording.chains.get(one, ())), chain)]
    counts = [int(recording.value(origin).max()) for origin in own or counters]
    return max(counts) - 1 if counts else counted


def _group(recording: StepRecording, update: Update) -> Group:
    return Group(update.names, settings_of([*update.chain, _injected(recording)], update.before))


def _injected(recording: StepRecording) -> Link:
    """The settings that a compiled step is given in the state of its optimizer, by optax's names."""
    given: dict[str, Any] = {}
    for number, one in recording.given.items():
        *_, held, name = ("", *one.name.split("."))
        value = recording.value((number, 0))
        if held == INJECTED and is_floating(value) and not value.shape:
            given[name] = float(value)
    return INJECTED, given


INJECTED = "hyperparams"
"""The field of a state of optax.inject_hyperparams."""


def _counts(recording: StepRecording, updates: list[Update]) -> dict[str, Any]:
    """The count of an optimizer that counts, for each parameter: "fc.weight.step"."""
    counted = updates if recording.counters else []
    return {f"{name}.step": np.float32(it.before + 1) for it in counted for name in it.given}


def _leaves(arrays: Mapping[str, Any]) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, _brief(array)) for name, array in arrays.items())


def _brief(value: Any) -> Array:
    return brief(array_of(value), dtype_of(value))
