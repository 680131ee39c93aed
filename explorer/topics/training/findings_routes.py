"""The table of routes to a training step, and which of them leave the weights of PyTorch's loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from explorer.model.message import Text
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics import cells
from explorer.topics.attempts import raised, said_briefly
from explorer.topics.evidence import Evidence
from explorer.topics.messages import style_name
from explorer.topics.question import MINDSPORE_STYLES, PARTIES, Question
from explorer.topics.training.figures import Trained, say
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
from explorer.topics.training.update_rules import NEAR, States, farthest, step_differences


@dataclass(frozen=True)
class StepRoute:
    """One way to take a step: its name, and the question and party that measured it."""

    question: Question
    party: str
    label: Text = field(compare=False)

    @property
    def framework(self) -> str:
        """The label of the framework that it is a route of."""
        library = PARTIES[self.party].library
        return PARTIES[library].label

    def trained(self, evidence: Evidence) -> Trained | None:
        """What was measured of it; None where nothing was."""
        return evidence.records(self.question, Trained).get(self.party)

    def states(self, evidence: Evidence) -> States:
        """What it left after every step; empty where it was refused or not measured."""
        trained = self.trained(evidence)
        return trained.states if trained else []


GRAPH, TAPE = MINDSPORE_STYLES

REFERENCE = StepRoute(LOOP, "torch", say("loop"))
"""The route that all others are compared with."""

TORCH_FUNC = StepRoute(FUNCTIONAL, "torch", "torch.func.grad_and_value")

COMPILED_ROUTES = (
    StepRoute(COMPILED, "torch", say("compiled_route", backend="aot_eager")),
    StepRoute(INDUCTOR, "torch", say("compiled_route", backend="inductor")),
)


def _of_mindspore(party: str) -> Iterator[StepRoute]:
    """MindSpore's routes in one style; the names are those of messages."""
    questions = {
        "Model.train": MODEL,
        "TrainOneStepCell": STEP_CELL,
        "GradOperation": GRAD_OPERATION,
        "without_set_grad": WITHOUT_SET_GRAD,
        "value_and_grad": FUNCTIONAL,
        "ms.jit": JIT,
    }
    style = style_name(PARTIES[party].style)
    for name, question in questions.items():
        if party in question.asks:
            yield StepRoute(question, party, say(name, style=style))


# In the order of the table's rows: MindSpore's styles one after the other, then PyTorch.
ROUTES = (
    *_of_mindspore(GRAPH),
    *_of_mindspore(TAPE),
    REFERENCE,
    TORCH_FUNC,
    *COMPILED_ROUTES,
)


def states_by_route(evidence: Evidence) -> dict[StepRoute, States]:
    """What each route left after every step, without those that were refused or not measured."""
    states = {}
    for route in ROUTES:
        left = route.states(evidence)
        if left:
            states[route] = left
    return states


# What they leave, against PyTorch's loop


@TOPIC.finding(LOOP)
def distance_from_the_loop(evidence: Evidence) -> Iterator[Text]:
    """How many routes leave the weights of PyTorch's loop, and by how much the others part."""
    states = states_by_route(evidence)
    reference = states.pop(REFERENCE)  # which is not counted among those compared with it
    greatest = {route: max(step_differences(left, reference)) for route, left in states.items()}
    near = [difference for difference in greatest.values() if difference <= NEAR]
    yield say(
        "routes_near",
        near=len(near),
        routes=len(greatest),
        steps=len(reference),
        greatest=max(near, default=0.0),
    )
    for route, difference in greatest.items():
        if difference > NEAR:
            yield say(
                "route_parts",
                framework=route.framework,
                route=route.label,
                difference=difference,
                tensor=farthest(states[route], reference),
            )


@TOPIC.finding(LOOP)
def refused_routes(evidence: Evidence) -> Iterator[Text]:
    """The message of each route that is refused, and of running statistics under torch.func."""
    for route in ROUTES:
        trained = route.trained(evidence)
        if trained and trained.raised:
            yield say("route_refused", route=route.label, error=trained.brief_error)
    functional = TORCH_FUNC.trained(evidence)
    if functional and raised(functional.statistics_captured):
        yield say("captured_refused", error=said_briefly(functional.statistics_captured))


@TOPIC.table()
def every_route(evidence: Evidence) -> Iterator[Table[Text]]:
    """How far each route is from PyTorch's loop after every step."""
    states = states_by_route(evidence)
    reference = states.get(REFERENCE)
    rows: list[tuple[Cell | Text, ...]] = []
    for route in ROUTES:
        if reference is None or route not in states:
            empty = [None] * STEPS
            rows.append((route.framework, route.label, *empty, _why_not_compared(evidence, route)))
            continue
        differences = step_differences(states[route], reference)
        verdict = say("same")
        if max(differences) > NEAR:
            verdict = say("parts_in", tensor=farthest(states[route], reference))
        rows.append((route.framework, route.label, *differences, verdict))
    steps = [say("step_number", step=step + 1) for step in range(STEPS)]
    yield Table(
        title=say("routes_title"),
        columns=(*say.row("framework", "route"), *steps, say("verdict")),
        rows=tuple(rows),
        note=say("routes_note"),
    )


def _why_not_compared(evidence: Evidence, route: StepRoute) -> Text:
    trained = route.trained(evidence)
    if trained and trained.raised:
        return trained.error
    if trained:
        return say("not_compared")  # it ran, and PyTorch's loop did not
    return cells.why_missing(evidence, route.question, route.party)


@TOPIC.table()
def any_two_routes(evidence: Evidence) -> Iterator[Table[Text]]:
    """The greatest difference of any two routes over all steps.

    Routes that agree to the last bit are one row.
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

    # All routes of a group have the same states: the first of them will do.
    rows: list[tuple[Cell | Text, ...]] = []
    for number, group in enumerate(groups, 1):
        own = states[group[0]]
        differences = [max(step_differences(own, states[other[0]])) for other in groups]
        name = say("numbered", number=number, group=_group_name(group))
        rows.append((name, *differences))
    if rows:
        yield Table(
            title=say("any_two_title"),
            columns=(say("route"), *map(str, range(1, len(groups) + 1))),
            rows=tuple(rows),
            note=say("any_two_note"),
        )


def _group_name(group: Sequence[StepRoute]) -> Text:
    """The one route by its name, several by their number and framework."""
    if len(group) == 1:
        return say("of_framework", framework=group[0].framework, route=group[0].label)
    frameworks = [route.framework for route in group]
    counts = tuple(
        say("count_of", count=frameworks.count(name), framework=name)
        for name in sorted(set(frameworks))
    )
    return say("both", names=counts)


@TOPIC.chart(LOOP)
def routes_chart(evidence: Evidence) -> Iterator[Chart[Text]]:
    """A line for each distance from PyTorch's loop; routes at the same distance share one."""
    states = states_by_route(evidence)
    reference = states.pop(REFERENCE)
    groups: dict[tuple[float, ...], list[StepRoute]] = {}
    for route, left in states.items():
        groups.setdefault(tuple(step_differences(left, reference)), []).append(route)

    steps = tuple(float(step + 1) for step in range(STEPS))
    series: list[Series[Text]] = []
    without_difference: list[Text] = []
    for differences, group in groups.items():
        if any(differences):
            # The axis is logarithmic, where a zero has no place.
            heights = tuple(difference or None for difference in differences)
            series.append(Series(_line_name(group), steps, heights))
        else:
            without_difference.append(say("no_difference", line=_line_name(group)))
    if series:
        yield Chart(
            name="training-routes",
            title=say("routes_chart"),
            kind="line",
            x=say("step"),
            y=say("weight_difference"),
            series=tuple(series),
            log=("y",),
            note=cells.sentences(*without_difference) if without_difference else "",
        )


def _line_name(group: Sequence[StepRoute]) -> Text:
    frameworks = sorted({route.framework for route in group})
    if len(group) == 1:
        return say("line", framework=frameworks[0], route=group[0].label)
    return say("lines", count=len(group), frameworks=tuple(frameworks))
