"""Trains a scenario's net in JAX with a transformation of optax, and records each step."""

from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp
import msgspec

from explorer.engines.jax import optimizers
from explorer.engines.jax.errors import failure
from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import Net, built, flat
from explorer.engines.jax.tape import STAGE, recorded
from explorer.engines.jax.tensors import array_of, dtype_of
from explorer.engines.trained_net import RATE, Step, trained
from explorer.model.arrays import Array
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest, TrainingRequest
from explorer.model.results import Leaf
from explorer.model.trace import Start, Trace
from explorer.model.training import Batch, Group, Training, TrainingStep
from explorer.numeric.summaries import brief
from explorer.scenario.training import Pass, Plan

Arrays = dict[str, jax.Array]


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    with built(request.net) as net:
        loop = _Loop(request, net)
        recorder = TrainingInJax(loop)

        def whole_step() -> _StepGraph:
            return _StepGraph(loop)

        return trained(request, "jax", net.scenario, recorder, loop.begin, whole_step, failure)


class _Loop:
    """A net with what trains it; ``done`` is the record of the last step.

    There is nothing to watch: gradients, updates and state are what functions return.
    """

    def __init__(self, request: TrainingRequest, net: Net) -> None:
        self.request = request
        self.net = net
        self.weights = {name: net.parameters[name] for name in net.trainable}
        self.passes: tuple[Pass, ...] = ()
        self.chain: list[optimizers.Link] = []
        self.done: TrainingStep | None = None
        self._updates = 0

    def begin(self, plan: Plan) -> Step:
        """The function that makes a step, by what the scenario says of its training."""
        import optax  # where it is missing, the record says so

        self._clip_norm = plan.clip_norm
        self._transformation = plan.optimizer(self.weights) if plan.optimizer else optax.sgd(RATE)
        self._state = self._transformation.init(self.weights)
        self.chain = optimizers.links(self._transformation)
        return self.step

    def step(self, passes: tuple[Pass, ...]) -> list[float]:
        """One update by the gradients of some passes; the losses of these."""
        self.passes = passes
        answers = [jax.value_and_grad(self._loss)(self.weights, _arrays(one)) for one in passes]
        # JAX returns dicts in the order of their keys.
        names = self.net.trainable
        added = [{name: gradients[name] for name in names} for _loss, gradients in answers]
        gradients = {name: sum((it[name] for it in added[1:]), added[0][name]) for name in names}
        given = optimizers.clipped(gradients, self._clip_norm)
        settings = optimizers.settings(self.chain, self._updates)
        updates, self._state = self._transformation.update(given, self._state, self.weights)
        self.weights = {name: self.weights[name] + updates[name] for name in names}
        self._updates += 1
        own_norm = optimizers.clip_norm(self.chain)
        is_clipped = own_norm is not None or self._clip_norm is not None
        self.done = TrainingStep(
            number=self._updates,
            batches=tuple(Batch((), None, _leaves(one) if added[1:] else ()) for one in added),
            gradients=_leaves(gradients),
            norm=optimizers.total_norm(gradients) if is_clipped else None,
            given=_leaves(optimizers.clipped(given, own_norm)),
            groups=(Group(names, settings),),
            weights=_leaves(self.weights),
            state=_leaves(dict(optimizers.state(self.chain, self._state, names))),
        )
        return [float(loss) for loss, _gradients in answers]

    def _loss(self, weights: Arrays, arrays: Arrays) -> jax.Array:
        outputs = flat(self.net.call({**self.net.parameters, **weights}, *arrays.values()))
        floating = [it for it in outputs if jnp.issubdtype(it.dtype, jnp.floating)]
        differentiated = floating[:1] if self.request.has_one_loss else floating
        return sum((it.sum() for it in differentiated[1:]), differentiated[0].sum())


class TrainingInJax:
    """What is recorded of a training: what a loop leaves after each of its steps."""

    missing = ()

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self.device = loop.request.net.device
        self.versions = {name: version(name) for name in ("jax", "optax") if find_spec(name)}
        self.start = tuple(map(self._started, loop.net.parameters))

    @property
    def optimizer(self) -> str:
        """The function of optax that has made the optimizer: "optax.adam"."""
        return optimizers.kind(self._loop.chain)

    def begin(self) -> None:
        """Begin to record a step."""
        self._loop.done = None

    def end(self, number: int) -> TrainingStep | None:
        """What was recorded of the step; None where it raised."""
        done = self._loop.done
        return done and msgspec.structs.replace(done, number=number)

    def _started(self, name: str) -> Start:
        is_trained = name in self._loop.weights
        value = _packed(self._loop.net.parameters[name])
        return Start(name, "parameter" if is_trained else "buffer", value, self.device, is_trained)


class _StepGraph:
    """Records the graph of the step that comes next, from the weights before it."""

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self._weights = loop.weights
        self._graph: GradGraph | None = None

    def start(self, _caller: FrameType) -> None:
        """Begin: nothing is watched, since the step's gradient can be computed once more."""

    def stop(self) -> None:
        """The forward and backward of the step's first pass, computed once more."""
        loop = self._loop
        case = GradCase("grad", None, "all", has_aux=loop.request.has_one_loss and _has_more(loop))
        request = CaseRequest(loop.request.net, case)
        arrays = _arrays(loop.passes[0])
        net = replace(loop.net, inputs=arrays, parameters={**loop.net.parameters, **self._weights})
        _asked, recording = recorded(request, net)
        graph = RecordedGradGraph(recording, str(net.scenario.path), values=True)
        self._graph = graph.record(request.net.engine, case.label, STAGE)

    def trace(self, name: str, step: int | None, _raised: BaseException | None) -> Trace:
        """The record of the graph."""
        return Trace(name=name, framework="jax", step=step, graph=self._graph)


def _has_more(loop: _Loop) -> bool:
    """Whether the net returns more than the loss."""
    arguments = {**loop.net.parameters, **loop.weights}, *loop.net.arguments
    return len(list(flat(jax.eval_shape(loop.net.call, *arguments)))) > 1


def _arrays(arrays: Pass) -> Arrays:
    return {name: jnp.asarray(array) for name, array in arrays.items()}


def _leaves(arrays: dict[str, Any]) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, _packed(value)) for name, value in arrays.items())


def _packed(value: Any) -> Array:
    return brief(array_of(value), dtype_of(value))
