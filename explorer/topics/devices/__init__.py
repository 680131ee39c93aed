"""Devices: what each framework sees, where tensors live, how they move, what comes back, and the
matrix on each device.
"""

from explorer.model.engines import ENGINES, FRAMEWORKS
from explorer.model.measurement import Measurement
from explorer.topics.devices.telling import QUESTIONS, tell
from explorer.topics.question import Target
from explorer.topics.study_records import Study

MEASUREMENTS = {
    f"{question}.{framework}": Measurement(
        name=f"devices.{question}.{framework}",
        kind=framework,
        target=f"{__name__}.in_{framework}:{question}",
    )
    for question in QUESTIONS
    for framework in FRAMEWORKS
}
"""Each question to each framework, by "question.framework"."""


def measurements(target: Target) -> tuple[Measurement, ...]:
    """The questions, and the scenario's matrix by each engine."""
    grids = (
        Measurement(
            name=f"devices.matrix.{name}",
            kind=engine.framework,
            target=f"{__name__}.on_devices:answers",
            scenario=target.scenario,
            device=target.device,
            options={"engine": name},
        )
        for name, engine in ENGINES.items()
    )
    return (*MEASUREMENTS.values(), *grids)


STUDY = Study(
    name="devices",
    title="Devices: where numbers live and how they move",
    question="What does each framework see here, what moves a tensor, what comes back to the host, and do devices agree?",
    measurements=measurements,
    tell=tell,
    default_scenario="dense_mse",
)
