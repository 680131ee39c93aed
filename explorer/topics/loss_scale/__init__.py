"""The study of loss scaling: what underflows and overflows in each float, and how each framework's
scaler lives.
"""

from explorer.model.measurement import Measurement
from explorer.scenario.contract import find
from explorer.topics.loss_scale.telling import STYLES, tell
from explorer.topics.question import Target
from explorer.topics.study_records import Study

QUESTIONS = ("sweep", "guide_example", "finiteness", "underflow", "life", "limits", "unscaling")
"""The measuring functions, which both frameworks have under the same names."""


def measurement(question: str, engine: str, device: str = "cpu") -> Measurement:
    """The measurement of one question: ``engine`` is "mindspore-graph", "mindspore-tape" or
    "torch".
    """
    framework, _, name = engine.partition("-")
    return Measurement(
        name=f"loss-scale.{question}.{engine}",
        kind="torch" if framework == "torch" else "mindspore",
        target=f"explorer.topics.loss_scale.in_{framework}:{question}",
        scenario=str(find("dense_mse")) if question == "guide_example" else "",
        device=device,
        options={"style": name} if name else {},
    )


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Every question in every style."""
    return tuple(
        measurement(question, engine, target.device) for question in QUESTIONS for engine in STYLES
    )


STUDY = Study(
    name="loss-scale",
    title="Loss scaling: what underflows, what overflows, and the life of a scaler",
    question="What does scaling the loss save in float16, and do the frameworks' scalers behave alike?",
    measurements=measurements,
    tell=tell,
)
