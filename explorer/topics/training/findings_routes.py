"""Findings about the routes to a training step: which leave the weights of PyTorch's loop, which are
refused.
"""

from collections.abc import Iterator, Sequence

from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said
from explorer.topics.cells import reason
from explorer.topics.evidence import Evidence
from explorer.topics.training.differences import NEAR, farthest, step_differences
from explorer.topics.training.inputs import STEPS
from explorer.topics.training.questions import FUNCTIONAL, LOOP, TOPIC
from explorer.topics.training.step_routes import REFERENCE, ROUTES, StepRoute, states_by_route


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
    """The message of each route that is refused, and of statistics that torch.func cannot update."""
    for route in ROUTES:
        figures = route.figures(evidence)
        if raised(figures):
            yield f"{route.label} is refused: {said(figures)}"
    captured = evidence[FUNCTIONAL].get("torch", {}).get("statistics captured")
    if raised(captured):
        yield (
            "torch.func.grad with the running statistics left in the module is refused:"
            f" {said(captured)}"
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
    return said(figures) if raised(figures) else reason(evidence, route.question, route.party)


@TOPIC.table()
def any_two_routes(evidence: Evidence) -> Iterator[Table]:
    """The greatest difference of any two routes over all steps; those that agree to the last bit
    stand in one row.
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
            without_difference.append(f"no difference at all: {_line_name(group)}")
    if series:
        yield Chart(
            name="training-routes",
            title="How far each way to take a step is from PyTorch's loop",
            kind="line",
            x="step",
            y="greatest difference",
            series=tuple(series),
            log=("y",),
            note="; ".join(without_difference),
        )


def _line_name(group: Sequence[StepRoute]) -> str:
    frameworks = sorted({route.framework for route in group})
    if len(group) == 1:
        return f"{frameworks[0]}: {group[0].label}"
    return f"{len(group)} routes of {', '.join(frameworks)}"
