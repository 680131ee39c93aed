"""Optax's transformations by PyTorch's names: what they stand for, their settings, and their state.

A transformation is a pair of functions, and has no class: what it was made of is in the functions that
its update has kept, by optax's own names (0.2).
"""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from explorer.model.graph import Arguments

Link = tuple[str, dict[str, Any]]
"""One transformation of a chain: the function of optax that has made it, and what it was given."""

CLIP = "clip_by_global_norm"

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
}
"""Settings of links: PyTorch's names."""

SETTINGS_OF = {("trace", "decay"): "momentum", ("scale_by_rms", "decay"): "alpha"}
"""The same where the link decides."""

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


def _links(update: Any) -> Iterator[Link]:
    kept = _kept(update)
    inner = kept.get("update_fns") or [one for one in (kept.get("tx"),) if hasattr(one, "update")]
    if inner:
        for one in inner:
            yield from _links(getattr(one, "update", one))
    else:
        yield update.__qualname__.partition(".")[0], kept


def _kept(function: Any) -> dict[str, Any]:
    """The variables that a function has kept, by their names."""
    cells = function.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
    }


def kind(chain: list[Link]) -> str:
    """The optimizer that a chain stands for: "optax.adamw"; the names of its links where it is none."""
    names = [name for name, _given in chain if name not in (*RATES, CLIP)]
    while len(names) > 1 and names[-1] in PLAIN_KINDS and tuple(names) not in KINDS:
        names.pop()
    return f"optax.{KINDS.get(tuple(names), '+'.join(names))}"


def clip_norm(chain: list[Link]) -> float | None:
    """The norm to which a chain clips gradients first, if it does."""
    for name, given in chain[:1]:
        if name == CLIP:
            return float(given["max_norm"])
    return None


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
        if link in RATES:
            found["lr"] = abs(_rate(given, updates))
    return found


def _rate(given: dict[str, Any], updates: int) -> float:
    schedule = given.get("step_size_fn")
    return float(schedule(updates) if schedule else given["step_size"])


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
