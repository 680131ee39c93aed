"""The study of learning-rate schedules: both frameworks' schedules side by side, as sequences and
as curves.
"""

import msgspec

from explorer.model.measurement import Measurement
from explorer.topics.question import Target
from explorer.topics.schedules.families import forms
from explorer.topics.schedules.telling import tell
from explorer.topics.study_records import Study

HERE = "explorer.topics.schedules"
GUIDE_EXPONENTIAL = {"gamma": 0.9, "steps": 5}
GUIDE_PIECEWISE = {"milestone": [2, 5, 10], "learning_rates": [0.1, 0.05, 0.01]}

NAMES_MINDSPORE = Measurement(
    name="schedules.names.mindspore", kind="mindspore", target=f"{HERE}.in_mindspore:names"
)
NAMES_TORCH = Measurement(
    name="schedules.names.torch", kind="torch", target=f"{HERE}.in_torch:names"
)
LISTS = Measurement(
    name="schedules.lists.mindspore",
    kind="mindspore",
    target=f"{HERE}.in_mindspore:lists",
    options={"forms": forms("list")},
)
CELLS = Measurement(
    name="schedules.cells.mindspore",
    kind="mindspore",
    target=f"{HERE}.in_mindspore:cells",
    options={"forms": forms("cell")},
)
HAND_MINDSPORE = Measurement(
    name="schedules.by_hand.mindspore",
    kind="mindspore",
    target=f"{HERE}.in_mindspore:by_hand",
    options={"forms": forms("hand")},
)
HAND_TORCH = Measurement(
    name="schedules.by_hand.torch",
    kind="torch",
    target=f"{HERE}.in_torch:by_hand",
    options={"forms": forms("torch")},
)
PIECEWISE = Measurement(
    name="schedules.piecewise.mindspore",
    kind="mindspore",
    target=f"{HERE}.in_mindspore:piecewise",
    options=GUIDE_PIECEWISE,
)
USED_MINDSPORE = Measurement(
    name="schedules.used.mindspore",
    kind="mindspore",
    target=f"{HERE}.in_mindspore:used",
    options=GUIDE_EXPONENTIAL,
)
USED_TORCH = Measurement(
    name="schedules.used.torch",
    kind="torch",
    target=f"{HERE}.in_torch:used",
    options=GUIDE_EXPONENTIAL,
)

MEASUREMENTS = (
    NAMES_MINDSPORE,
    NAMES_TORCH,
    LISTS,
    CELLS,
    HAND_MINDSPORE,
    HAND_TORCH,
    PIECEWISE,
    USED_MINDSPORE,
    USED_TORCH,
)


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Everything measured, on the device asked for."""
    return tuple(msgspec.structs.replace(each, device=target.device) for each in MEASUREMENTS)


STUDY = Study(
    name="schedules",
    title="Learning-rate schedules",
    question="Which schedule of one framework gives the rates of which schedule of the other, and who moves it on?",
    measurements=measurements,
    tell=tell,
)
