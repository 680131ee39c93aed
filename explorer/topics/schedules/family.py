"""A family of learning-rate schedules: one shape, and the schedule of each form that has it."""

from typing import Any

import msgspec

Schedule = tuple[str, dict[str, Any]]
"""A schedule's name and keyword arguments, as plain data.

``lr_lambda`` names an entry of LR_LAMBDAS, ``schedulers`` holds schedules.
"""

FORM_LABELS = {
    "list": "MindSpore function",
    "cell": "MindSpore Cell",
    "hand": "MindSpore experimental scheduler",
    "callback": "MindSpore callback of Model.train",
    "torch": "PyTorch scheduler",
}
"""The forms of a schedule, and what each is called.

A "list" function returns the whole sequence, a "cell" is a LearningRateSchedule; "hand" and "torch"
are stepped by hand (mindspore.experimental.optim.lr_scheduler, torch.optim.lr_scheduler). Callbacks
have no counterparts.
"""


class Family(msgspec.Struct, frozen=True):
    """One shape of schedule, and the schedule of each form that should follow it.

    ``formula`` is the rate at step t, for reading.
    """

    name: str
    formula: str
    schedules: dict[str, Schedule]

    def schedule_name(self, form: str) -> str | None:
        """The name of the schedule that has this shape in one form, None where there is none."""
        schedule = self.schedules.get(form)
        return schedule[0] if schedule else None


def names_in(schedule: Schedule) -> set[str]:
    """The names of the schedules that one consists of: its own, and those inside it."""
    name, settings = schedule
    names = {name}
    for inner in settings.get("schedulers", ()):
        names |= names_in(inner)
    return names


def call(schedule: Schedule) -> str:
    """A schedule as it is typed: "ExponentialLR(gamma=0.9)"."""
    name, settings = schedule
    arguments = [f"{key}={_typed(value)}" for key, value in settings.items()]
    return f"{name}({', '.join(arguments)})"


def _typed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    # Schedules inside a schedule are the only lists of tuples.
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return f"[{', '.join(map(call, value))}]"
    return str(value)
