"""What the optimizers of Optax, a library on JAX, begin with, and their first steps on one weight."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from explorer.model.measurement import Ask, Found
from explorer.topics.conventions.inputs import RATE, STEPS
from explorer.topics.in_jax import attempt_in_a_sentence


def optimizers(ask: Ask) -> Found:
    """The defaults of optimizers, and some of their steps; raises ImportError where there is no Optax."""
    optax()
    return Found({name: attempt_in_a_sentence(ask_one) for name, ask_one in OPTIMIZERS.items()})


def optax() -> Any:
    """The module `optax`, which an environment with JAX may lack."""
    return importlib.import_module("optax")


def default(optimizer: str, argument: str) -> Any:
    """The default of an optimizer's argument; None where it has none."""
    value = inspect.signature(getattr(optax(), optimizer)).parameters[argument].default
    return None if value is inspect.Parameter.empty else value


def moved(optimizer: str, **settings: Any) -> float:
    """How far a weight with the gradient 1 has been moved by the last of some steps."""
    steps = settings.pop("steps", 1)
    update = getattr(optax(), optimizer)(RATE, **settings)
    weight = jnp.zeros(1)
    state = update.init(weight)
    change = jnp.zeros(1)
    for _ in range(steps):
        change, state = update.update(jnp.ones(1), state, weight)
        weight = optax().apply_updates(weight, change)
    return round(-float(change[0]), 4)


def in_place() -> bool:
    """Whether a step writes into the weight itself."""
    weight = jnp.zeros(1)
    update = optax().sgd(RATE)
    change, _ = update.update(jnp.ones(1), update.init(weight), weight)
    optax().apply_updates(weight, change)
    return float(weight[0]) != 0


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "rate": lambda: default("adam", "learning_rate"),
    "adam_epsilon": lambda: default("adam", "eps"),
    "adamw_decay": lambda: default("adamw", "weight_decay"),
    "rmsprop_decay": lambda: default("rmsprop", "decay"),
    "rmsprop_first_step": lambda: moved("rmsprop"),
    "adagrad_start": lambda: default("adagrad", "initial_accumulator_value"),
    "adagrad_first_step": lambda: moved("adagrad"),
    "momentum_second_step": lambda: moved("sgd", momentum=0.9, steps=STEPS),
    "in_place": in_place,
}
