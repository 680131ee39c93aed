"""The table of routes to a training step, and which of them leave the weights of PyTorch's loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.evidence import Evidence, reason
from explorer.topics.question import MINDSPORE_STYLES, PARTIES, Question
from explorer.topics.training.differences import NEAR, States, farthest, step_differences
from explorer.topics.training.inputs import STEPS
from explorer.topics.training.questions import (
    COMPILED,
    FUNCTIONAL,
    GRAD_OPERATION,
    INDUCTOR,
    JIT,
    LOOP,
    MODEL,
    STEP_CELL,
    TOPIC,
    WITHOUT_SET_GRAD,
)


@dataclass(frozen=True)
class StepRoute:
    """One way to take a step: its name, and the question and party that measured it."""

    question: Question
    party: str
    label: str

    @property
    def framework(self) -> str:
        """The label of the framework that it is a route of."""
        library = PARTIES[self.party].library
        return PARTIES[library].label

    def figures(self, evidence: Evidence) -> Figures:
        """What was measured of it; empty where nothing was."""
        return evidence[self.question].get(self.party, {})


GRAPH, TAPE = MINDSPORE_STYLES

REFERENCE = StepRoute(LOOP, "torch", "zero_grad, backward, step")
"""The route that all others are compared with."""

COMPILED_ROUTES = (
    StepRoute(COMPILED, "torch", "torch.compile, aot_eager"),
    StepRoute(INDUCTOR, "torch", "torch.compile, inductor"),
)

# In the order of the table's rows: MindSpore's styles one after the other, then PyTorch.
ROUTES = (
    StepRoute(MODEL, GRAPH, "Model.train, graph"),
    StepRoute(STEP_CELL, GRAPH, "TrainOneStepCell, graph"),
    StepRoute(GRAD_OPERATION, GRAPH, "GradOperation step, graph"),
    StepRoute(FUNCTIONAL, GRAPH, "value_and_grad step, graph"),
    StepRoute(JIT, GRAPH, "ms.jit step, graph"),
    StepRoute(MODEL, TAPE, "Model.train, tape"),
    StepRoute(STEP_CELL, TAPE, "TrainOneStepCell, tape"),
    StepRoute(GRAD_OPERATION, TAPE, "GradOperation step, tape"),
    StepRoute(WITHOUT_SET_GRAD, TAPE, "GradOperation step, tape, no set_grad()"),
    StepRoute(FUNCTIONAL, TAPE, "value_and_grad step, tape"),
    StepRoute(JIT, TAPE, "ms.jit step, tape"),
    REFERENCE,
    StepRoute(FUNCTIONAL, "torch", "torch.func.grad_and_value"),
    *COMPILED_ROUTES,
)


def states_by_route(evidence: Evidence) -> dict[StepRoute, States]:
    """What each route left after every step, without those that were refused or not measured."""
    states = {}
    for route in ROUTES:
        figures = route.figures(evidence)
        if "states" in figures:
            states[route] = figures["states"]
    return states


# What they leave, against PyTorch's loop


@TOPIC.finding(LOOP)
def distance_from_the_loop(evidence: Evidence) -> Iterator[str]:
    """How many routes leave the weights of PyTorch's loop, and by how much the others part."""
    states = states_by_route(evidence)
    reference = states.pop(REFERENCE)  # which is not counted among those compared with it
    greatest = {route: max(step_differences(left, reference)) for route, left in states.items()}
    near = [difference for difference in greatest.values() if difference <= NEAR]
    yield (
        f"{len(near)} of {len(greatest)} ways to take a step leave the weights of PyTorch's"
        f" zero_grad, backward, step after each of {len(reference)} steps"
        f" (greatest difference {max(near, default=0.0):.1e})."
    )
    for route, difference in greatest.items():
        if difference > NEAR:
            name = farthest(states[route], reference)
            yield f"{route.framework}'s {route.label} parts by {difference:.2g}, most of all in {name}."


@TOPIC.finding(LOOP)
def refused_routes(evidence: Evidence) -> Iterator[str]:
    """The message of each route that is refused, and of running statistics under torch.func."""
    for route in ROUTES:
        figures = route.figures(evidence)
        if raised(figures):
            yield f"{route.label} is refused: {said_briefly(figures)}."
    captured = evidence[FUNCTIONAL].get("torch", {}).get("statistics captured")
    if raised(captured):
        yield (
            "torch.func.grad with the running statistics left in the module is refused:"
            f" {said_briefly(captured)}."
        )


@TOPIC.table()
def every_route(evidence: Evidence) -> Iterator[Table]:
    """How far each route is from PyTorch's loop after every step."""
    states = states_by_route(evidence)
    reference = states.get(REFERENCE)
    rows: list[tuple[Cell, ...]] = []
    for route in ROUTES:
        if reference is None or route not in states:
            empty = [None] * STEPS
            rows.append((route.framework, route.label, *empty, _why_not_compared(evidence, route)))
            continue
        differences = step_differences(states[route], reference)
        verdict = "same"
        if max(differences) > NEAR:
            verdict = f"parts: {farthest(states[route], reference)}"
        rows.append((route.framework, route.label, *differences, verdict))
    steps = [f"step {step + 1}" for step in range(STEPS)]
    yield Table(
        title="Every way to take a step, against zero_grad, backward, step",
        columns=("framework", "route", *steps, "verdict"),
        rows=tuple(rows),
        note="The greatest difference of any weight or running statistic"
        " after each of five steps of SGD on conv + batch norm.",
    )


def _why_not_compared(evidence: Evidence, route: StepRoute) -> str:
    figures = route.figures(evidence)
    if raised(figures):
        return said(figures)
    if figures:
        return "not compared"  # it ran, and PyTorch's loop did not
    return reason(evidence, route.question, route.party)


@TOPIC.table()
def any_two_routes(evidence: Evidence) -> Iterator[Table]:
    """The greatest difference of any two routes over all steps.

    Routes that agree to the last bit stand in one row.
    """
    states = states_by_route(evidence)
    groups: list[list[StepRoute]] = []
    for route in states:
        for group in groups:
            if max(step_differences(states[route], states[group[0]])) == 0:
                group.append(route)
                break
        else:
            groups.append([route])

    # All routes of a group have the same states: the first of them stands for it.
    rows: list[tuple[Cell, ...]] = []
    for number, group in enumerate(groups, 1):
        own = states[group[0]]
        differences = [max(step_differences(own, states[other[0]])) for other in groups]
        rows.append((f"{number}: {_group_name(group)}", *differences))
    if rows:
        yield Table(
            title="Any two routes: the greatest difference over five steps",
            columns=("route", *(str(number + 1) for number in range(len(groups)))),
            rows=tuple(rows),
            note="Routes that agree to the last bit stand together.",
        )


def _group_name(group: Sequence[StepRoute]) -> str:
    """The one route by its name, several by their number and framework."""
    if len(group) == 1:
        return f"{group[0].framework}, {group[0].label}"
    frameworks = [route.framework for route in group]
    counts = [f"{frameworks.count(name)} of {name}" for name in sorted(set(frameworks))]
    return " and ".join(counts)


@TOPIC.chart(LOOP)
def routes_chart(evidence: Evidence) -> Iterator[Chart]:
    """A line for each distance from PyTorch's loop; routes at the same distance share one."""
    states = states_by_route(evidence)
    reference = states.pop(REFERENCE)
    groups: dict[tuple[float, ...], list[StepRoute]] = {}
    for route, left in states.items():
        groups.setdefault(tuple(step_differences(left, reference)), []).append(route)

    steps = tuple(float(step + 1) for step in range(STEPS))
    series = []
    without_difference = []
    for differences, group in groups.items():
        if any(differences):
            # The axis is logarithmic, where a zero has no place.
            heights = tuple(difference or None for difference in differences)
            series.append(Series(_line_name(group), steps, heights))
        else:
            without_difference.append(f"No difference at all: {_line_name(group)}.")
    if series:
        yield Chart(
            name="training-routes",
            title="How far each way to take a step is from PyTorch's loop",
            kind="line",
            x="step",
            y="greatest difference of a weight",
            series=tuple(series),
            log=("y",),
            note=" ".join(without_difference),
        )


def _line_name(group: Sequence[StepRoute]) -> str:
    frameworks = sorted({route.framework for route in group})
    if len(group) == 1:
        return f"{frameworks[0]}: {group[0].label}"
    return f"{len(group)} routes of {', '.join(frameworks)}"
