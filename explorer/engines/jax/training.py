"""Trains a scenario's net in JAX with a transformation of optax, and records each step."""

import jax
import jax.numpy as jnp

from explorer.engines.jax import optimizers
from explorer.engines.jax.errors import failure
from explorer.engines.jax.net import Net, built, flat
from explorer.engines.jax.step_trace import StepInJax
from explorer.engines.jax.training_recorder import TrainingInJax
from explorer.engines.trained_net import RATE, Step, trained
from explorer.model.arrays import SMALL
from explorer.model.requests import TrainingRequest
from explorer.model.training import Training
from explorer.scenario.training import Pass, Plan

Arrays = dict[str, jax.Array]


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    recorder = TrainingInJax()

    def whole_step() -> StepInJax:
        return StepInJax(values=SMALL, start=0, memory=None)

    with built(request.net) as net:

        def begin(plan: Plan) -> Step:
            loop = _Loop(net, plan, request.has_one_loss)
            recorder.chain = optimizers.links(loop.transformation)
            return loop.step

        return trained(request, "jax", net.scenario, recorder, begin, whole_step, failure)


class _Loop:
    """A net with what trains it."""

    def __init__(self, net: Net, plan: Plan, has_one_loss: bool) -> None:
        import optax  # where it is missing, the record says so

        self._net = net
        self._has_one_loss = has_one_loss
        self._weights = {name: net.parameters[name] for name in net.trainable}
        self.transformation = plan.optimizer(self._weights) if plan.optimizer else optax.sgd(RATE)
        if plan.clip_norm is not None:
            clip = optax.clip_by_global_norm(plan.clip_norm)
            self.transformation = optax.chain(clip, self.transformation)
        self._state = self.transformation.init(self._weights)

    def step(self, passes: tuple[Pass, ...]) -> list[None]:
        """One update by the gradients of some passes, whose losses the recorder sees."""
        arrays = [{name: jnp.asarray(array) for name, array in one.items()} for one in passes]
        first, *others = [jax.grad(self._loss)(self._weights, one) for one in arrays]
        gradients = {name: sum((it[name] for it in others), first[name]) for name in first}
        updates, self._state = self.transformation.update(gradients, self._state, self._weights)
        self._weights = {name: self._weights[name] + updates[name] for name in self._weights}
        return [None] * len(passes)

    def _loss(self, weights: Arrays, arrays: Arrays) -> jax.Array:
        outputs = flat(self._net.call({**self._net.parameters, **weights}, *arrays.values()))
        floating = [it for it in outputs if jnp.issubdtype(it.dtype, jnp.floating)]
        differentiated = floating[:1] if self._has_one_loss else floating
        return sum((it.sum() for it in differentiated[1:]), differentiated[0].sum())
