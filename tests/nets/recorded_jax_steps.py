"""Training programs in JAX, run with and without a recorder: prints what they computed, as JSON.

``python recorded_jax_steps.py FOLDER WEIGHTS.npz`` writes a trace of the last of two steps of each.
"""

import hashlib
import json
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import optax
from recording_programs import warned

import explorer

FOLDER = Path(sys.argv[1])
GIVEN = np.load(sys.argv[2])
LAYERS = ("first", "last")


def dense(given, x):
    return x @ given["kernel"] + given["bias"]


def start():
    return {
        layer: {
            "kernel": jnp.asarray(GIVEN[f"{layer}.weight"].T),
            "bias": jnp.asarray(GIVEN[f"{layer}.bias"]),
        }
        for layer in LAYERS
    }


def loss_of(params, x, y):
    hidden = jax.nn.gelu(dense(params["first"], x), approximate=False)
    logits = dense(params["last"], hidden)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def trainer(optimizer=None):
    optimizer = optimizer or optax.adam(1e-2)

    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    params = start()
    return train_step, params, optimizer.init(params)


def run(record, train_step, params, state):
    for step in range(2):
        with record(step):
            params, state, loss = train_step(params, state, GIVEN["x"], GIVEN["y"])
    return digest((params, state, loss))


def digest(tree):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    return hashlib.sha256(b"".join(leaf.tobytes() for leaf in leaves)).hexdigest()


def eager(record):
    return run(record, *trainer())


def compiled(record):
    train_step, *rest = trainer()
    return run(record, jax.jit(train_step), *rest)


def donated(record):
    train_step, *rest = trainer(optax.sgd(1e-2, momentum=0.9))
    return run(record, jax.jit(train_step, donate_argnums=(0, 1)), *rest)


def split(record):
    """The gradient is compiled, the update another time."""
    gradient = jax.jit(jax.value_and_grad(loss_of))
    update = jax.jit(lambda params, grads: jax.tree.map(lambda p, g: p - 0.1 * g, params, grads))

    def train_step(params, state, x, y):
        loss, grads = gradient(params, x, y)
        return update(params, grads), state, loss

    return run(record, train_step, start(), ())


def several_passes(record):
    """A critic with a gradient penalty, which is updated, and then a generator."""

    def critic_loss(critic, generator, x):
        made = dense(generator, x)
        slope = jax.grad(lambda point: dense(critic, point).sum())(made)
        return dense(critic, made).mean() + (slope**2).sum()

    def generator_loss(generator, critic, x):
        return -jnp.tanh(dense(critic, dense(generator, x))).mean()

    @jax.jit
    def train_step(params, state, x, _):
        generator, critic = params["first"], params["last"]
        loss, grads = jax.value_and_grad(critic_loss)(critic, generator, x)
        critic = jax.tree.map(lambda p, g: p - 0.1 * g, critic, grads)
        other, grads = jax.value_and_grad(generator_loss)(generator, critic, x)
        generator = jax.tree.map(lambda p, g: p - 0.1 * g, generator, grads)
        return {"first": generator, "last": critic}, state, loss + other

    return run(record, train_step, start(), ())


def module_trainer(**norm):
    """A module of flax.nnx with running statistics, its optimizer, and its step compiled as a whole."""
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(6, 16, rngs=rngs)
            self.norm = nnx.BatchNorm(16, rngs=rngs, **norm)
            self.last = nnx.Linear(16, 3, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.relu(self.norm(self.first(x))))

    net = Net(nnx.Rngs(0))
    for layer in LAYERS:
        getattr(net, layer).kernel.value = jnp.asarray(GIVEN[f"{layer}.weight"].T)
    optimizer = nnx.Optimizer(net, optax.adam(1e-2))

    @nnx.jit
    def train_step(net, optimizer, x, y):
        def loss_fn(net, x):
            return optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean()

        loss, grads = nnx.value_and_grad(loss_fn)(net, x)
        optimizer.update(grads)
        return loss

    return train_step, net, optimizer, lambda: (nnx.state(net), nnx.state(optimizer))


def module(record):
    train_step, net, optimizer, state = module_trainer()
    for step in range(2):
        with record(step):
            loss = train_step(net, optimizer, GIVEN["x"], GIVEN["y"])
    return digest((*state(), loss))


PROGRAMS = (eager, compiled, donated, split, several_passes, module)


def recorded(name):
    """A block around each step, of which the last one is recorded."""
    return lambda step: explorer.record(FOLDER / f"{name}.trace") if step else nullcontext()


def odd(record):
    """A loop inside of what is differentiated, a number of Python's, a static argument, and a print.

    An operation inside of a compiled function has two results; one is returned, beside a number.
    """

    def powers(params, x, times):
        def body(total, _):
            return total * params[1] + params[0] * x, None

        total, _ = jax.lax.scan(body, jnp.zeros_like(x), None, length=times)
        jax.debug.callback(PRINTED.append, total.sum())
        return jnp.tanh(total).sum()

    gradient = jax.jit(jax.value_and_grad(powers), static_argnums=2)
    ordered = jax.jit(lambda x: (jax.lax.sort((x, -x))[0], 1.0))
    with record(1):
        computed = gradient([jnp.ones((8, 6)), 0.5], GIVEN["x"], 3)
        computed = computed, jax.grad(lambda x: (x * ordered(x)[0]).sum())(jnp.asarray(GIVEN["x"]))
    jax.effects_barrier()
    return digest(computed)


PRINTED = []


def one(name="one", **options):
    train_step, params, state = trainer()
    with explorer.record(FOLDER / f"{name}.trace", **options):
        _, _, loss = train_step(params, state, GIVEN["x"], GIVEN["y"])
    return float(loss)


def normalizations():
    """A normalization with two values of epsilon."""

    def normalized(params, x, epsilon):
        hidden = dense(params["first"], x)
        variance = jnp.square(hidden).mean(-1, keepdims=True)
        return jnp.square(dense(params["last"], hidden * jax.lax.rsqrt(variance + epsilon))).mean()

    for name, epsilon in (("plain_norm", 1e-5), ("large_epsilon", 1e-2)):
        with explorer.record(FOLDER / f"{name}.trace"):
            jax.grad(normalized)(start(), GIVEN["x"], epsilon)


def failing():
    """The recorder fails at the first operation."""
    from explorer.engines.jax import step_recorder

    def add(*_):
        return 1 // 0

    with mock.patch.object(step_recorder.StepRecording, "add", add):
        return one("failing")


def compiled_to_record():
    """How many programs XLA compiles to record a step that has run before, and loops of two lengths."""
    seconds = []

    def note(event, duration, **_):
        if event.endswith("backend_compile_duration"):
            seconds.append(duration)

    def compiled_by(step, *args):
        step(*args)
        before = len(seconds)
        with explorer.record(FOLDER / "compiled_by.trace"):
            step(*args)
        return len(seconds) - before

    def loop(params, rows):
        return jax.lax.scan(lambda total, row: (total * params + row, None), params, rows)[0].sum()

    jax.monitoring.register_event_duration_secs_listener(note)
    calls = compiled_by(jax.grad(lambda p: jnp.sum(p * 2)), jnp.ones(7))
    _, *loops = (  # the first one compiles the operations of all
        compiled_by(jax.grad(loop), jnp.ones(7), jnp.ones((length, 7))) for length in (3, 6, 12)
    )
    return {"calls": calls, "loops": loops}


def mapped():
    """Gradients for each example, which are computed at once."""
    gradient = jax.vmap(jax.grad(loss_of), in_axes=(None, 0, 0))
    with explorer.record(FOLDER / "mapped.trace"):
        return digest(gradient(start(), GIVEN["x"][:, None], GIVEN["y"][:, None]))


def raises():
    try:
        with explorer.record(FOLDER / "raised.trace"):
            jnp.ones(3).sum() + jnp.ones((2, 2)) @ jnp.ones(3)
    except TypeError as error:
        return type(error).__name__


def patched():
    from jax._src import api, core, pjit
    from jax._src.interpreters import ad

    kinds = (api, core, pjit, ad.JVPTrace, ad.LinearizeTrace, optax.ScaleByAdamState)
    return [repr(sorted((name, id(it)) for name, it in vars(kind).items())) for kind in kinds]


def main():
    before = patched()
    programs = {}
    for program in PROGRAMS:
        if program is module and find_spec("flax") is None:
            continue
        without = program(lambda _: nullcontext())
        programs[program.__name__] = without, program(recorded(program.__name__))
    loss = one()
    normalizations()
    computed = {
        "programs": programs,
        "one": loss,
        "failing": warned(failing),
        "full": warned(one, "full", memory=1 << 12),
        "mapped": warned(mapped),
        "compiled_to_record": compiled_to_record(),
        "odd": (odd(lambda _: nullcontext()), odd(recorded("odd"))),
        "printed": len(PRINTED),
        "raises": raises(),
        "is_put_back": patched() == before,
    }
    print(json.dumps(computed))


if __name__ == "__main__":
    main()
