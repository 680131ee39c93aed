"""The study of the tape's life: what each engine records, keeps and frees, and what it does when
asked twice.
"""

from typing import Any

from explorer.model.engines import Kind
from explorer.model.measurement import Measurement
from explorer.scenario.contract import find
from explorer.topics.question import Target
from explorer.topics.study_records import Study
from explorer.topics.tape_life.telling import tell

DEFAULT = "mlp_cross_entropy"
GUIDE, EXTRA, ALIASED = "dense_mse", "linear_bce", "aliased_input"

MODULES: dict[str, tuple[Kind, str]] = {
    "torch-tape": ("torch", "in_torch"),
    "mindspore-tape": ("mindspore", "in_mindspore"),
    "torch-graph": ("torch", "in_torch_graph"),
    "mindspore-graph": ("mindspore", "in_mindspore"),
}
EVERY = tuple(MODULES)
MINDSPORE = ("mindspore-tape", "mindspore-graph")

QUESTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "second_backward": (GUIDE, ("torch-tape",)),
    "second_backward_of_little": ("", ("torch-tape",)),
    "accumulation": (GUIDE, ("torch-tape",)),
    "called_again": (GUIDE, ("mindspore-tape", "torch-graph", "mindspore-graph")),
    "reused": ("", MINDSPORE),
    "switches": ("", ("torch-tape",)),
    "cut_off": ("", EVERY),
    "in_place": ("", EVERY),
    "hooks": ("", EVERY),
    "extra_output": (EXTRA, ("torch-tape", *MINDSPORE)),
    "answers": (ALIASED, EVERY),
    "variable": ("", ("torch-tape",)),
}
"""Questions with a net of their own: the scenario that it is, "" for a program of the study's, and
the engines asked.
"""

LIVES: dict[str, tuple[str, ...]] = {
    "lifetime": EVERY,
    "freeing": ("torch-tape", "mindspore-tape"),
    "forward_alone": MINDSPORE,
    "compiled": ("torch-graph",),
}
"""Questions about the scenario that is looked at."""


def asked(question: str, engine: str, device: str = "cpu") -> Measurement:
    """The measurement of one of QUESTIONS."""
    scenario = QUESTIONS[question][0]
    return _measurement(question, engine, str(find(scenario)) if scenario else "", device)


def of_scenario(question: str, engine: str, scenario: str, device: str = "cpu") -> Measurement:
    """The measurement of one of LIVES on a scenario's file."""
    return _measurement(question, engine, scenario, device)


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Every question, put to every engine that it can be put to."""
    lives = (
        of_scenario(question, engine, target.scenario, target.device)
        for question, on in LIVES.items()
        for engine in on
    )
    return (
        *lives,
        *(
            asked(question, engine, target.device)
            for question, (_, on) in QUESTIONS.items()
            for engine in on
        ),
    )


def _measurement(question: str, engine: str, scenario: str, device: str) -> Measurement:
    kind, module = MODULES[engine]
    planned = question == "lifetime" and engine == "mindspore-graph"
    options: dict[str, Any] = {"style": engine.partition("-")[2]} if kind == "mindspore" else {}
    return Measurement(
        name=f"tape-life.{question}.{engine}",
        kind="mindspore-capture" if planned else kind,
        target=f"{__name__}.{module}:{'planned' if planned else question}",
        scenario=scenario,
        device=device,
        options=options,
    )


STUDY = Study(
    name="tape-life",
    title="The life of the tape",
    question="What does a forward leave behind for its backward, when is it freed, and what happens on a second backward?",
    measurements=measurements,
    tell=tell,
    default_scenario=DEFAULT,
)
