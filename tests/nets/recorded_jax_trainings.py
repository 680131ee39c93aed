"""Trainings in JAX, run with and without a recorder: prints what they computed, as JSON.

``python recorded_jax_trainings.py FOLDER WEIGHTS.npz`` writes a training of each program.
"""

import json
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).parent))

import jax
import jax.numpy as jnp
import numpy as np
import optax
from recorded_jax_steps import (
    FOLDER,
    GIVEN,
    dense,
    digest,
    loss_of,
    module_trainer,
    start,
    trainer,
)
from recording_programs import warned

import explorer

STEPS = 4


def batch(step):
    return GIVEN["x"] * (1 + step), np.roll(GIVEN["y"], step)


def trained(steps, optimizer, *, compiled=False, donated=False):
    train_step, params, state = trainer(optimizer)
    if compiled:
        train_step = jax.jit(train_step, donate_argnums=(0, 1) if donated else ())
    for step in range(STEPS):
        with steps.step():
            params, state, loss = train_step(params, state, *batch(step))
    return digest((params, state, loss))


def eager(steps):
    return trained(steps, optax.adamw(1e-2, weight_decay=0.1))


def compiled(steps):
    return trained(steps, optax.adamw(1e-2, weight_decay=0.1), compiled=True)


def donated(steps):
    return trained(steps, optax.sgd(1e-2, momentum=0.9), compiled=True, donated=True)


def clipped(steps):
    rate = optax.exponential_decay(0.1, 1, 0.5)
    chain = optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(rate))
    return trained(steps, chain, compiled=True)


def two_passes(steps):
    """The gradients of two halves of each batch, added."""
    optimizer = optax.sgd(0.1)
    params = start()
    state = optimizer.init(params)
    for step in range(STEPS):
        x, y = batch(step)
        with steps.step():
            halves = [
                jax.grad(loss_of)(params, x[half], y[half]) for half in (slice(4), slice(4, 8))
            ]
            grads = jax.tree.map(jnp.add, *halves)
            updates, state = optimizer.update(grads, state, params)
            params = optax.apply_updates(params, updates)
    return digest(params)


def compiled_passes(steps):
    """The same by a function that is compiled and called twice, with a loop in it; a branch updates."""

    def looped(params, x, y):
        return jax.lax.map(lambda one: loss_of(params, one[0][None], one[1][None]), (x, y)).mean()

    def update(params, grads):
        def descended():
            return jax.tree.map(lambda it, gradient: it - 0.1 * gradient, params, grads)

        is_finite = jnp.isfinite(grads["last"]["bias"]).all()
        return jax.lax.cond(is_finite, descended, lambda: params)

    gradient, update = jax.jit(jax.value_and_grad(looped)), jax.jit(update)
    params = start()
    for step in range(STEPS):
        x, y = batch(step)
        with steps.step():
            halves = [gradient(params, x[half], y[half])[1] for half in (slice(4), slice(4, 8))]
            params = update(params, jax.tree.map(jnp.add, *halves))
    return digest(params)


def module(steps):
    train_step, net, optimizer, state = module_trainer(momentum=0.9)
    for step in range(STEPS):
        with steps.step():
            loss = train_step(net, optimizer, *batch(step))
    return digest((*state(), loss))


def two_nets(steps):
    """A critic of what a generator makes, and the generator: each loss is given the other's parameters."""

    def critic_loss(critic, generator, x):
        return jnp.square(dense(critic, jnp.tanh(dense(generator, x)))).mean()

    def generator_loss(generator, critic, x):
        return -critic_loss(critic, generator, x)

    def descend(params, grads):
        return jax.tree.map(lambda it, gradient: it - 0.1 * gradient, params, grads)

    params = start()
    generator, critic = params["first"], params["last"]
    for step in range(STEPS):
        x, _ = batch(step)
        with steps.step():
            critic = descend(critic, jax.grad(critic_loss)(critic, generator, x))
            generator = descend(generator, jax.grad(generator_loss)(generator, critic, x))
    return digest((generator, critic))


def injected(steps):
    """An optimizer whose rate is in its state."""
    return trained(steps, optax.inject_hyperparams(optax.adam)(learning_rate=1e-2), compiled=True)


def given_rate(steps):
    """An optimizer that is made where the step is compiled, of a rate that the step is given."""

    @jax.jit
    def train_step(params, state, x, y, rate):
        optimizer = optax.adam(rate)
        grads = jax.grad(loss_of)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    params = start()
    state = optax.adam(1e-2).init(params)
    for step in range(STEPS):
        with steps.step():
            params, state = train_step(params, state, *batch(step), 1e-2)
    return digest((params, state))


def closed_over(steps):
    """In bfloat16, a loss that has its data from around it; one layer is updated by another rule."""

    def labels(params):
        return {"first": {"kernel": "a", "bias": "a"}, "last": {"kernel": "b", "bias": "b"}}

    rules = {"a": optax.adam(1e-2), "b": optax.sgd(0.1)}
    optimizer = optax.multi_transform(rules, labels)

    @jax.jit
    def train_step(params, state, x, y):
        grads = jax.grad(lambda it: loss_of(it, x, y))(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    params = jax.tree.map(lambda it: it.astype(jnp.bfloat16), start())
    state = optimizer.init(params)
    for step in range(STEPS):
        x, y = batch(step)
        with steps.step():
            params, state = train_step(params, state, jnp.asarray(x, jnp.bfloat16), y)
    return digest((params, state))


def two_optimizers(steps):
    """The same where each net has an optimizer, layers of one name, and an average that begins as the net."""
    critic_rule, generator_rule = optax.adam(1e-2), optax.adam(1e-3, b1=0.5)

    def critic_loss(critic, generator, x):
        made = jnp.tanh(dense(generator["layer"], x))
        return jnp.square(dense(critic["layer"], made)).mean()

    @jax.jit
    def train_step(critic, generator, critic_state, generator_state, averages, x):
        gradient = jax.grad(critic_loss)(critic, generator, x)
        updates, critic_state = critic_rule.update(gradient, critic_state)
        critic = optax.apply_updates(critic, updates)
        gradient = jax.grad(lambda it: -critic_loss(critic, it, x))(generator)
        updates, generator_state = generator_rule.update(gradient, generator_state)
        generator = optax.apply_updates(generator, updates)
        averages = optax.incremental_update((critic, generator), averages, 0.1)
        return critic, generator, critic_state, generator_state, averages

    params = start()
    critic, generator = {"layer": params["last"]}, {"layer": params["first"]}
    states = critic_rule.init(critic), generator_rule.init(generator)
    held = critic, generator, *states, (critic, generator)
    for step in range(STEPS):
        with steps.step():
            held = train_step(*held, batch(step)[0])
    return digest(held)


PROGRAMS = (
    eager,
    compiled,
    donated,
    clipped,
    two_passes,
    compiled_passes,
    two_nets,
    two_optimizers,
    injected,
    given_rate,
    closed_over,
    module,
)


class Without:
    """Steps of which none is recorded."""

    def step(self):
        return nullcontext()


def raising():
    """The third step raises an error of the program's own."""
    steps = explorer.recorder(training=True, out=FOLDER / "raising.training")
    params = start()

    def run():
        for step in range(3):
            with steps.step():
                x, y = batch(step)
                grads = jax.grad(loss_of)(params, x if step < 2 else x[:, :3], y)
                jax.tree.map(lambda it, gradient: it - gradient, params, grads)

    try:
        run()
    except TypeError as error:
        return type(error).__name__
    return None


def failing():
    """The recorder fails at the first operation."""
    from explorer.engines.jax import step_recorder

    with mock.patch.object(step_recorder.StepRecorder, "_record", None):
        steps = explorer.recorder(training=True, out=FOLDER / "failing.training")
        return warned(eager, steps)


def work_to_record():
    """How often a function is traced that three trainings record, and what is compiled in each step.

    Parameters come back as a list, and no more than 9 away from 0. In the last two steps of the last one,
    a trace of another call is beside.
    """
    traced, compiled, in_steps = [], [], []
    optimizer, _other = optax.adam(1e-2), optax.adam(1e-3)

    def train_step(params, state, x, y):
        traced.append(1)
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        updated = jax.tree.leaves(optax.apply_updates(params, updates))
        return [jnp.clip(it, -9, 9) for it in updated], state, loss

    def note(event, duration, **_):
        if event.endswith("backend_compile_duration"):
            compiled.append(duration)

    train_step = jax.jit(train_step)
    jax.monitoring.register_event_duration_secs_listener(note)
    for name in ("work", "again", "traced"):
        steps = explorer.recorder(training=True, out=FOLDER / f"{name}.training")
        params = start()
        state = optimizer.init(params)
        for step in range(STEPS):
            before = len(compiled)
            with steps.step():
                given = params, state, *batch(step)
                leaves, state, _ = train_step(*given)
                if name == "traced" and step > 1:
                    with explorer.record(FOLDER / "in_training.trace"):
                        train_step(*given)
            params = jax.tree.unflatten(jax.tree.structure(params), leaves)
            in_steps.append(len(compiled) - before)
        steps.write()
    return {"traced": len(traced), "compiled": in_steps}


def main():
    programs = {}
    for program in PROGRAMS:
        if program is module and find_spec("flax") is None:
            continue
        name = program.__name__
        with_graph = {"first": 1} if program is compiled else {}
        steps = explorer.recorder(training=True, out=FOLDER / f"{name}.training", **with_graph)
        programs[name] = program(Without()), program(steps)
        steps.write()
    before = digest([eager(Without())])
    computed = {
        "programs": programs,
        "raising": raising(),
        "failing": failing(),
        "work": work_to_record(),
        "again": [before, digest([eager(Without())])],
    }
    print(json.dumps(computed))


if __name__ == "__main__":
    main()
