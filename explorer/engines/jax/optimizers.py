"""Optax's transformations by PyTorch's names: what they stand for, their settings, and their state.

A transformation is a pair of functions, and has no class: what it was made of is in the functions that
its update has kept, by optax's own names (0.2).
"""

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.errors import UnexpectedTracerError

from explorer.model.graph import Arguments

Link = tuple[str, dict[str, Any]]
"""One transformation of a chain: the function of optax that has made it, and what it was given."""

CLIPS = {"clip_by_global_norm": "max_norm", "clip": "max_delta", "clip_by_block_rms": "threshold"}
"""The links that clip gradients, each with its limit."""

KINDS = {
    ("identity",): "sgd",
    ("trace",): "sgd",
    ("add_decayed_weights", "identity"): "sgd",
    ("add_decayed_weights", "trace"): "sgd",
    ("scale_by_adam",): "adam",
    ("add_decayed_weights", "scale_by_adam"): "adam",
    ("scale_by_adam", "add_decayed_weights"): "adamw",
    ("scale_by_rms",): "rmsprop",
    ("scale_by_rss",): "adagrad",
}
"""The functions of optax that chains stand for, by their links without the rate."""

RATES = ("scale", "scale_by_schedule")
"""The links that multiply by a rate, with its sign turned."""

PLAIN_KINDS = ("identity",)
"""Links that do nothing, at the end of a chain."""

SETTINGS = {
    "eps": "eps",
    "weight_decay": "weight_decay",
    "nesterov": "nesterov",
    "initial_accumulator_value": "initial_accumulator_value",
    "learning_rate": "lr",
}
"""Settings of links: PyTorch's names."""

SETTINGS_OF = {("trace", "decay"): "momentum", ("scale_by_rms", "decay"): "alpha"}
"""The same where the link decides."""

AROUND = ("tx", "inner")
"""What wrappers call the transformation in them: optax.inject_hyperparams, masked, apply_if_finite."""

STATE = {
    "mu": "exp_avg",
    "nu": "exp_avg_sq",
    "trace": "momentum_buffer",
    "sum_of_squares": "sum",
    "count": "step",
}
"""Fields of states: PyTorch's names."""

STATE_OF = {("rmsprop", "nu"): "square_avg"}
"""The same where the optimizer decides."""


def links(transformation: Any) -> list[Link]:
    """The transformations that one is a chain of, in their order."""
    return list(_links(transformation.update))


def links_of(updates: Iterable[Any]) -> list[Link]:
    """Those of a chain of some updates."""
    return [link for update in updates for link in _links(update)]


def _links(update: Any) -> Iterator[Link]:
    inner = _inner(update)
    for one in inner:
        yield from _links(getattr(one, "update", one))
    if not inner:
        name = getattr(update, "__qualname__", type(update).__name__)
        yield name.partition(".")[0], _kept(update)


def _inner(update: Any) -> Sequence[Any]:
    """The transformations, or their functions, of which one is made."""
    kept = _kept(update)
    around = [kept[name] for name in AROUND if hasattr(kept.get(name), "update")]
    return kept.get("update_fns") or around


def _kept(function: Any) -> dict[str, Any]:
    """The variables that a function has kept, by their names, but for what is only being traced."""
    if not isinstance(function, FunctionType):
        return {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    kept = {name: cell.cell_contents for name, cell in cells}
    return {name: value for name, value in kept.items() if not isinstance(value, Tracer)}


def kind(chain: list[Link]) -> str:
    """The optimizer that a chain stands for: "optax.adamw"; the names of its links where it is none."""
    names = [name for name, _given in chain if name not in (*RATES, *CLIPS)]
    while len(names) > 1 and names[-1] in PLAIN_KINDS and tuple(names) not in KINDS:
        names.pop()
    return f"optax.{KINDS.get(tuple(names), '+'.join(names))}"


def clip(chain: list[Link]) -> tuple[str, float] | None:
    """What a chain clips gradients with first, and to which limit, if it does."""
    for name, given in chain[:1]:
        if CLIPS.get(name) in given:
            return name, float(given[CLIPS[name]])
    return None


def is_same(chain: list[Link], other: list[Link]) -> bool:
    """Whether two chains have the same links with the same plain settings."""
    return _plainly(chain) == _plainly(other)


def _plainly(chain: list[Link]) -> list[Link]:
    return [
        (link, {name: value for name, value in given.items() if isinstance(value, (int, float))})
        for link, given in chain
    ]


def settings(chain: list[Link], updates: int) -> Arguments:
    """The settings of a chain by PyTorch's names, after so many updates."""
    found: Arguments = {}
    for link, given in chain:
        for name, value in given.items():
            known = SETTINGS_OF.get((link, name), SETTINGS.get(name))
            if known and isinstance(value, (bool, int, float)):
                found[known] = value
        if "b1" in given and "b2" in given:
            found["betas"] = (float(given["b1"]), float(given["b2"]))
        rate = _rate(given, updates) if link in RATES else None
        if rate is not None:
            found["lr"] = abs(rate)
    return found


def _rate(given: dict[str, Any], updates: int) -> float | None:
    """The rate of a link, after so many updates; None where it was traced with what it is given in."""
    schedule = given.get("step_size_fn")
    try:
        return float(schedule(updates) if schedule else given["step_size"])
    except (KeyError, UnexpectedTracerError):
        return None


def state(chain: list[Link], held: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """What an optimizer holds for each parameter: "fc.weight.exp_avg" and the array."""
    of = kind(chain).removeprefix("optax.")
    for path, value in jax.tree_util.tree_flatten_with_path(held)[0]:
        fields = [str(step.name) for step in path if hasattr(step, "name")]
        keys = [str(step.key) for step in path if hasattr(step, "key")]
        if not fields:
            continue
        known = STATE_OF.get((of, fields[-1]), STATE.get(fields[-1], fields[-1]))
        if known == "step":
            for name in names:
                yield f"{name}.step", np.float32(value)
        elif keys:
            yield f"{keys[-1]}.{known}", value


def clipped(gradients: dict[str, Any], name: str, limit: float) -> dict[str, Any]:
    """Gradients as a link of optax clips them to a limit."""
    import optax

    link = getattr(optax, name)(limit)
    cut: dict[str, Any] = link.update(gradients, link.init(gradients))[0]
    return {name: cut[name] for name in gradients}


def total_norm(gradients: dict[str, Any]) -> float:
    """The norm of all gradients together, which clipping compares."""
    return float(jnp.sqrt(sum(jnp.sum(it**2) for it in gradients.values())))


def only_one() -> list[Link]:
    """The optimizer of a program that holds a single one; nothing where it holds several, or none."""
    optax = sys.modules.get("optax")
    if optax is None:
        return []
    held = [it for it in gc.get_objects() if isinstance(it, optax.GradientTransformation)]
    parts = {id(part) for it in held for part in _parts(it.update)}
    chains = [links(it) for it in held if id(it.update) not in parts]
    # Others are arguments by default of optax's own.
    known = [chain for chain in chains if any(name in RATES for name, _ in chain)]
    return known[0] if len(known) == 1 else []


def _parts(update: Any) -> Iterator[Any]:
    """The functions of all transformations of which one is made."""
    for one in _inner(update):
        part = getattr(one, "update", one)
        yield part
        yield from _parts(part)
