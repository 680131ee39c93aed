"""The table of routes: every way to take a training step, and the weights that each left."""

from dataclasses import dataclass

from explorer.model.measurement import Figures
from explorer.topics.evidence import Evidence
from explorer.topics.question import MINDSPORE_STYLES, PARTIES, Question
from explorer.topics.training.differences import States
from explorer.topics.training.questions import (
    COMPILED,
    FUNCTIONAL,
    GRAD_OPERATION,
    INDUCTOR,
    JIT,
    LOOP,
    MODEL,
    STEP_CELL,
    WITHOUT_SET_GRAD,
)


@dataclass(frozen=True)
class StepRoute:
    """One way to take a step: the question and the party that measured it, and what it is called."""

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
