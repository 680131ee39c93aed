"""Comparisons of recorded trainings; none of them is run again."""

import msgspec

from explorer.compare.training.comparison import compare
from explorer.exploration.traces import report_on
from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.model.trace import Trace
from explorer.model.training import Training
from explorer.model.training_comparison import TrainingComparison
from explorer.text.language import _
from explorer.workers.workers import Workers


def compared(left: Training, right: Training) -> TrainingComparison:
    """Where two trainings first differ, and by which rule; UsageError where they have no step in common."""
    if left.name == right.name:
        left, right = (_named_by_framework(side) for side in (left, right))
    if left.name == right.name:
        left = msgspec.structs.replace(left, name=f"{left.name} 1")
        right = msgspec.structs.replace(right, name=f"{right.name} 2")
    steps = [{step.number for step in side.steps} for side in (left, right)]
    if not steps[0] & steps[1]:
        text = _(
            "{left} has the steps {n} and {right} the steps {m}; record the same steps of both"
        )
        raise UsageError(
            text.format(
                left=repr(left.name),
                right=repr(right.name),
                n=_numbers(steps[0]),
                m=_numbers(steps[1]),
            )
        )
    return compare(left, right)


def graphs_at(left: Training, right: Training, comparison: TrainingComparison) -> dict[str, Trace]:
    """The graphs of the step at which two trainings first differ, by their names; {} without both.

    They are there where that step was due when the trainings were recorded.
    """
    if comparison.difference is None:
        return {}
    number = comparison.difference.step
    traces: dict[str, Trace] = {}
    for training, name in ((left, comparison.left), (right, comparison.right)):
        step = next((step for step in training.steps if step.number == number), None)
        if step is None or step.graph is None:
            return {}
        traces[name] = Trace(
            name=name,
            framework=training.framework,
            step=number,
            versions=training.versions,
            devices=(training.device,),
            graph=step.graph,
        )
    return traces


def report_at(
    left: Training, right: Training, comparison: TrainingComparison, workers: Workers
) -> Report | None:
    """The report on the graphs of the step at which two trainings first differ; None without both."""
    traces = graphs_at(left, right, comparison)
    return report_on(traces, workers) if traces else None


def _named_by_framework(training: Training) -> Training:
    return msgspec.structs.replace(training, name=training.engine or training.framework)


def _numbers(steps: set[int]) -> str:
    if not steps:
        return _("none")
    return f"{min(steps)}–{max(steps)}" if len(steps) > 1 else str(min(steps))
