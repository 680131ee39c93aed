"""The study of stages: what MindSpore's compiler makes of a gradient, pass by pass, beside what a
tape records.
"""

from typing import Any

from explorer.model.engines import Kind
from explorer.model.measurement import Measurement
from explorer.scenario.contract import find
from explorer.topics.question import Target
from explorer.topics.stages.telling import tell
from explorer.topics.study_records import Study

DEFAULT = "dense_mse"
BRANCH = "branch_on_value"
LENGTHS = (1, 2, 4, 8, 16)
IN_MINDSPORE, IN_TORCH = f"{__name__}.in_mindspore", f"{__name__}.in_torch"


def on(scenario: str, device: str = "cpu") -> dict[str, Measurement]:
    """The measurements on a scenario's file, by what they are called after the study's name."""
    rows: tuple[tuple[str, Kind, str], ...] = (
        ("gradient_passes.mindspore-graph", "mindspore-passes", f"{IN_MINDSPORE}:gradient_passes"),
        ("training_passes.mindspore-graph", "mindspore-passes", f"{IN_MINDSPORE}:training_passes"),
        ("other_values.mindspore-graph", "mindspore-capture", f"{IN_MINDSPORE}:other_values"),
        ("other_values.mindspore-tape", "mindspore", f"{IN_MINDSPORE}:tape_of_other_values"),
        ("other_values.torch", "torch", f"{IN_TORCH}:other_values"),
    )
    return {
        name: _measurement(name, kind, target, scenario=scenario, device=device)
        for name, kind, target in rows
    }


def own(device: str = "cpu") -> dict[str, Measurement]:
    """The measurements on a branch and on loops, whatever scenario is looked at."""
    branch: dict[str, Any] = {"scenario": str(find(BRANCH)), "device": device}
    loops: dict[str, Any] = {"options": {"lengths": list(LENGTHS)}, "device": device}
    rows: tuple[tuple[str, Kind, str, dict[str, Any]], ...] = (
        ("branch.mindspore-graph", "mindspore-capture", f"{IN_MINDSPORE}:other_values", branch),
        ("branch.mindspore-tape", "mindspore", f"{IN_MINDSPORE}:tape_of_other_values", branch),
        ("branch.torch", "torch", f"{IN_TORCH}:other_values", branch),
        ("loops.mindspore-graph", "mindspore-capture", f"{IN_MINDSPORE}:loops", loops),
        ("loops.mindspore-tape", "mindspore", f"{IN_MINDSPORE}:tape_of_loops", loops),
        ("loops.torch", "torch", f"{IN_TORCH}:loops", loops),
    )
    return {name: _measurement(name, kind, target, **given) for name, kind, target, given in rows}


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Everything that the study measures."""
    return (*on(target.scenario, target.device).values(), *own(target.device).values())


def _measurement(name: str, kind: Kind, target: str, **given: Any) -> Measurement:
    return Measurement(name=f"stages.{name}", kind=kind, target=target, **given)


STUDY = Study(
    name="stages",
    title="Stages of a gradient graph",
    question="What does each pass of MindSpore's compiler make of a gradient, and what of it depends on the values?",
    measurements=measurements,
    tell=tell,
    default_scenario=DEFAULT,
)
