"""The study of training steps: every route of the guides, optimizers, groups, clipping and
accumulation, step by step.
"""

from typing import Any

import msgspec

from explorer.model.measurement import Measurement
from explorer.topics.question import Target
from explorer.topics.study_records import Study
from explorer.topics.training.given import forms
from explorer.topics.training.telling import tell

HERE = "explorer.topics.training"
REPEATS = 41


def _ours(name: str, function: str, **options: Any) -> Measurement:
    return Measurement(
        name=f"training.{name}",
        kind="mindspore",
        target=f"{HERE}.in_mindspore_{function}",
        options=options,
    )


def _theirs(name: str, function: str, **options: Any) -> Measurement:
    return Measurement(
        name=f"training.{name}", kind="torch", target=f"{HERE}.in_torch_{function}", options=options
    )


MODEL = _ours("model.mindspore-graph", "routes:model", style="graph")
STEP_CELL = _ours("step_cell.mindspore-graph", "routes:step_cell", style="graph")
GRAD_OPERATION = _ours("grad_operation.mindspore-graph", "routes:grad_operation", style="graph")
FUNCTIONAL = _ours("functional.mindspore-graph", "routes:functional", style="graph")
JIT = _ours("jit.mindspore-graph", "routes:functional", style="graph", jit=True)
MODEL_TAPE = _ours("model.mindspore-tape", "routes:model", style="tape")
STEP_CELL_TAPE = _ours("step_cell.mindspore-tape", "routes:step_cell", style="tape")
GRAD_OPERATION_TAPE = _ours("grad_operation.mindspore-tape", "routes:grad_operation", style="tape")
UNANNOUNCED_TAPE = _ours(
    "grad_operation_without_set_grad.mindspore-tape",
    "routes:grad_operation",
    style="tape",
    set_grad=False,
)
FUNCTIONAL_TAPE = _ours("functional.mindspore-tape", "routes:functional", style="tape")
JIT_TAPE = _ours("jit.mindspore-tape", "routes:functional", style="tape", jit=True)
LOOP = _theirs("loop.torch", "routes:loop")
FUNCTIONAL_TORCH = _theirs("functional.torch", "routes:functional")
COMPILED = _theirs("compiled.torch", "routes:compiled", backend="aot_eager")
INDUCTOR = _theirs("inductor.torch", "routes:compiled", backend="inductor")

ROUTES = (
    MODEL,
    STEP_CELL,
    GRAD_OPERATION,
    FUNCTIONAL,
    JIT,
    MODEL_TAPE,
    STEP_CELL_TAPE,
    GRAD_OPERATION_TAPE,
    UNANNOUNCED_TAPE,
    FUNCTIONAL_TAPE,
    JIT_TAPE,
    LOOP,
    FUNCTIONAL_TORCH,
    COMPILED,
    INDUCTOR,
)
"""Every way to take a step."""


UPDATES_NN = _ours("updates.nn", "optimizers:updates", place="nn", forms=forms("nn"))
UPDATES_EXPERIMENTAL = _ours(
    "updates.experimental", "optimizers:updates", place="experimental", forms=forms("experimental")
)
UPDATES_TORCH = _theirs("updates.torch", "optimizers:updates", forms=forms("torch"))
NAMES_MINDSPORE = _ours("optimizers.mindspore", "optimizers:names")
NAMES_TORCH = _theirs("optimizers.torch", "optimizers:names")
MOMENTUM = _ours("momentum.mindspore", "optimizers:momentum")

DECAYING = [["nn", "SGD", {}], ["nn", "Momentum", {"momentum": 0.0}], ["nn", "Adam", {}]]
DECAYING_TOO = [
    ["experimental", "SGD", {}],
    ["experimental", "Adam", {}],
    ["experimental", "AdamW", {}],
]
DECAY_MINDSPORE = _ours(
    "weight_decay.mindspore", "optimizers:weight_decay", optimizers=[*DECAYING, *DECAYING_TOO]
)
DECAY_TORCH = _theirs(
    "weight_decay.torch", "optimizers:weight_decay", optimizers=["SGD", "Adam", "AdamW"]
)

SETTINGS = {
    "lr": [{"lr": 0.5}, 2],
    "weight_decay": [{"weight_decay": 0.5}, 2],
    "grad_centralization, rows of 16": [{"grad_centralization": True}, 16],
    "grad_centralization, rows of 2": [{"grad_centralization": True}, 2],
    "momentum": [{"momentum": 0.9}, 2],
    "anything": [{"anything": 1}, 2],
}
"""What the first of two groups is given, and how long the rows of its weight are."""

GROUPS_MINDSPORE = _ours("groups.mindspore", "optimizers:groups", settings=SETTINGS)
GROUPS_TORCH = _theirs("groups.torch", "optimizers:groups", settings=SETTINGS)
GROWN_MINDSPORE = _ours(
    "add_param_group.mindspore", "optimizers:add_param_group", optimizers=["SGD", "Adam"]
)
GROWN_TORCH = _theirs(
    "add_param_group.torch", "optimizers:add_param_group", optimizers=["SGD", "Adam"]
)
TOLD_MINDSPORE = _ours("told.mindspore", "optimizers:told")
TOLD_TORCH = _theirs("told.torch", "optimizers:told")

CLIPPED = {"gradients": [[3.0, 4.0], [12.0]], "norms": [1.0, 5.0, 20.0], "value": 5.0}
"""Gradients whose global norm is 13."""

CLIPPING_MINDSPORE = _ours("clipping.mindspore", "gradients:clipping", style="graph", **CLIPPED)
CLIPPING_TORCH = _theirs("clipping.torch", "gradients:clipping", **CLIPPED)
ACCUMULATION_MINDSPORE = _ours(
    "accumulation.mindspore", "gradients:accumulation", style="graph", norm_in_training=False
)
ACCUMULATION_TORCH = _theirs("accumulation.torch", "gradients:accumulation", norm_in_training=False)
ACCUMULATION_NORM_MINDSPORE = _ours(
    "accumulation_batch_norm.mindspore",
    "gradients:accumulation",
    style="tape",
    norm_in_training=True,
)
ACCUMULATION_NORM_TORCH = _theirs(
    "accumulation_batch_norm.torch", "gradients:accumulation", norm_in_training=True
)

FILTERED_MINDSPORE = _ours("filtered.mindspore", "parameters:filtered")
FILTERED_TORCH = _theirs("filtered.torch", "parameters:filtered")
SCALED_STEP = _ours("scaled_step.mindspore", "parameters:scaled_step")

DISPATCHES_MINDSPORE = _ours("dispatches.mindspore", "dispatches:dispatches")
DISPATCHES_TORCH = _theirs("dispatches.torch", "dispatches:dispatches")
GRAPHS = Measurement(
    name="training.graphs.mindspore",
    kind="mindspore-capture",
    target=f"{HERE}.in_mindspore_dispatches:graphs",
)
SPEED_MINDSPORE = _ours("speed.mindspore", "dispatches:speed", repeats=REPEATS)
SPEED_TORCH = _theirs("speed.torch", "dispatches:speed", repeats=REPEATS)

OTHERS = (
    UPDATES_NN,
    UPDATES_EXPERIMENTAL,
    UPDATES_TORCH,
    NAMES_MINDSPORE,
    NAMES_TORCH,
    MOMENTUM,
    DECAY_MINDSPORE,
    DECAY_TORCH,
    GROUPS_MINDSPORE,
    GROUPS_TORCH,
    GROWN_MINDSPORE,
    GROWN_TORCH,
    TOLD_MINDSPORE,
    TOLD_TORCH,
    CLIPPING_MINDSPORE,
    CLIPPING_TORCH,
    ACCUMULATION_MINDSPORE,
    ACCUMULATION_TORCH,
    ACCUMULATION_NORM_MINDSPORE,
    ACCUMULATION_NORM_TORCH,
    FILTERED_MINDSPORE,
    FILTERED_TORCH,
    SCALED_STEP,
    DISPATCHES_MINDSPORE,
    DISPATCHES_TORCH,
    GRAPHS,
    SPEED_MINDSPORE,
    SPEED_TORCH,
)
"""What steps are made of, and how they are carried out."""


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Everything measured, on the device asked for."""
    return tuple(msgspec.structs.replace(each, device=target.device) for each in (*ROUTES, *OTHERS))


STUDY = Study(
    name="training",
    title="Training steps",
    question="Do all ways to take a training step leave the same weights, step by step?",
    measurements=measurements,
    tell=tell,
    seconds=180.0,  # a C++ compiler is at work for ten seconds on a free machine, and longer on a busy one
)
