"""The table of learning-rate schedules: a row is a family that should give one sequence."""

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from explorer.model.message import Message, Text, message

RATE = 0.1
"""The rate that schedules start from."""

END_RATE = 0.01
GAMMA = 0.9
DECAY = 0.5
DECAY_STEPS = 10
WARM_UP_STEPS = 5

# The steps of these functions may be tensors: MindSpore's and PyTorch's LambdaLR call them alike.


def inverse(step: Any) -> float:
    """1 / (1 + DECAY · step)."""
    return 1 / (1 + DECAY * float(step))


def inverse_stairs(step: Any) -> float:
    """The inverse decay, once every WARM_UP_STEPS steps."""
    return 1 / (1 + DECAY * (float(step) // WARM_UP_STEPS))


def cosine_then_flat(step: Any) -> float:
    """Half a cosine from RATE to END_RATE in DECAY_STEPS steps, and END_RATE from there on."""
    done = min(float(step), DECAY_STEPS) / DECAY_STEPS
    return (END_RATE + 0.5 * (RATE - END_RATE) * (1 + math.cos(math.pi * done))) / RATE


def polynomial_to_an_end(step: Any) -> float:
    """A parabola from RATE to END_RATE in DECAY_STEPS steps, and END_RATE from there on."""
    done = min(float(step), DECAY_STEPS) / DECAY_STEPS
    return ((RATE - END_RATE) * (1 - done) ** 2 + END_RATE) / RATE


def polynomial_over_longer_spans(step: Any) -> float:
    """A parabola whose span is as many times DECAY_STEPS as the step needs."""
    spans = max(math.ceil(float(step) / DECAY_STEPS), 1)  # step 0 is on the first span
    span = DECAY_STEPS * spans
    return ((RATE - END_RATE) * (1 - float(step) / span) ** 2 + END_RATE) / RATE


def warm_up(step: Any) -> float:
    """From nothing to the whole in WARM_UP_STEPS steps."""
    return min(float(step), WARM_UP_STEPS) / WARM_UP_STEPS


def nine_tenths(step: Any) -> float:
    """0.9 at every step."""
    return 0.9


_FUNCTIONS = (
    inverse,
    inverse_stairs,
    cosine_then_flat,
    polynomial_to_an_end,
    polynomial_over_longer_spans,
    warm_up,
    nine_tenths,
)
LR_LAMBDAS = {function.__name__: function for function in _FUNCTIONS}
"""The functions by name, since a measurement's options are plain data."""

LOSS = 1.0
"""The loss for a schedule that watches it, the same at every step: it gets no better."""


def parameters(schedule: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a schedule's parameters, and the names of those that have none.

    The optimizer, which most schedulers need, is not listed.
    """
    defaults, needs = {}, []
    for parameter in inspect.signature(schedule).parameters.values():
        if parameter.default is not parameter.empty:
            defaults[parameter.name] = parameter.default
        elif parameter.name != "optimizer":
            needs.append(parameter.name)
    return {"defaults": defaults, "needs": needs}


def ready(settings: dict[str, Any], build: Callable[[str, dict[str, Any]], Any]) -> dict[str, Any]:
    """Keyword arguments for a call, made of the settings in the table of schedules.

    The name of a function becomes the function, and ``build`` makes a schedule inside the schedule
    of its name and settings.
    """
    # Only plain data reaches the worker: functions and schedules arrive as their names.
    arguments = dict(settings)
    if "lr_lambda" in arguments:
        arguments["lr_lambda"] = LR_LAMBDAS[arguments["lr_lambda"]]
    if "schedulers" in arguments:
        arguments["schedulers"] = [build(*inner) for inner in arguments["schedulers"]]
    return arguments


def watched(name: str) -> tuple[float, ...]:
    """The arguments for ``step()`` of the scheduler called ``name``."""
    return (LOSS,) if name == "ReduceLROnPlateau" else ()


Schedule = tuple[str, dict[str, Any]]
"""A schedule's name and keyword arguments, as plain data.

``lr_lambda`` names an entry of LR_LAMBDAS, ``schedulers`` holds schedules.
"""

FORMS = ("list", "cell", "hand", "callback", "torch")
"""The forms of a schedule.

A "list" function returns the whole sequence, a "cell" is a LearningRateSchedule; "hand" and "torch"
are stepped by hand (mindspore.experimental.optim.lr_scheduler, torch.optim.lr_scheduler). Callbacks
have no counterparts.
"""

IN_WORDS = ""
"""The formula of a rate that is described in words: words/topics/schedules.py has them."""


def form_label(form: str) -> Message:
    """What a form of schedules is called."""
    return message(f"schedules.form {form}")


class Family(msgspec.Struct, frozen=True):
    """One shape of schedule, and the schedule of each form that should follow it.

    ``formula`` is the rate at step t, for reading; IN_WORDS where words say it better.
    """

    name: str
    formula: str
    schedules: dict[str, Schedule]

    @property
    def label(self) -> Message:
        """The name of the family for readers."""
        return message(f"schedules.family {self.name}")

    @property
    def rate(self) -> Text:
        """The rate at step t for readers."""
        return self.formula or message(f"schedules.rate {self.name}")

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
    arguments = []
    for key, value in settings.items():
        arguments.append(f"{key}={_typed(value)}")
    return f"{name}({', '.join(arguments)})"


def _typed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    # Schedules inside a schedule are the only lists of tuples.
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return f"[{', '.join(map(call, value))}]"
    return str(value)


STEPS = 20  # twice DECAY_STEPS, so that what comes after a decay's end is compared too
"""The length of every sequence."""


def _by(function: Callable[[Any], float]) -> Schedule:
    """A schedule that has no class of its own: any function of the step, for LambdaLR."""
    return "LambdaLR", {"lr_lambda": function.__name__}


def _both(stepped: Schedule) -> dict[str, Schedule]:
    """A schedule that both frameworks have under one name, to be stepped by hand."""
    return {"hand": stepped, "torch": stepped}


def _same(name: str, formula: str, schedule: str, **settings: Any) -> Family:
    return Family(name, formula, _both((schedule, settings)))


def _in_torch(name: str, formula: str, schedule: str, **settings: Any) -> Family:
    """A family that MindSpore does not have."""
    return Family(name, formula, {"torch": (schedule, settings)})


EPOCHS = {"total_step": STEPS, "step_per_epoch": 1}
"""A function that returns a list counts in epochs; here, an epoch is a step."""

EXPONENTIAL = ("exponential_decay_lr", "ExponentialDecayLR")
NATURAL_EXPONENTIAL = ("natural_exp_decay_lr", "NaturalExpDecayLR")
INVERSE = ("inverse_decay_lr", "InverseDecayLR")
"""MindSpore's function and Cell of a decay."""


def _decay(
    name: str,
    formula: str,
    names: tuple[str, str],
    stepped: Schedule,
    *,
    rate: float = DECAY,
    every: int = 1,
) -> Family:
    """A decay by ``rate`` every so many steps, in stairs where that is more than one."""
    function, cell = names
    start = {"learning_rate": RATE, "decay_rate": rate}
    stairs = {"is_stair": every > 1}
    schedules: dict[str, Schedule] = {
        "list": (function, {**start, **EPOCHS, "decay_epoch": every, **stairs}),
        "cell": (cell, {**start, "decay_steps": every, **stairs}),
        **_both(stepped),
    }
    return Family(name, formula, schedules)


def _cosine(name: str, formula: str, stepped: Schedule) -> Family:
    ends = {"min_lr": END_RATE, "max_lr": RATE}
    schedules: dict[str, Schedule] = {
        "list": ("cosine_decay_lr", {**ends, **EPOCHS, "decay_epoch": DECAY_STEPS}),
        "cell": ("CosineDecayLR", {**ends, "decay_steps": DECAY_STEPS}),
        **_both(stepped),
    }
    return Family(name, formula, schedules)


def _polynomial(
    name: str, formula: str, stepped: Schedule, *, end: float, longer: bool = False
) -> Family:
    """A parabola down to ``end``; with ``longer`` its span grows each time the end is reached."""
    shape = {"learning_rate": RATE, "end_learning_rate": end, "power": 2.0}
    in_epochs = {**EPOCHS, "decay_epoch": DECAY_STEPS, "update_decay_epoch": longer}
    in_steps = {"decay_steps": DECAY_STEPS, "update_decay_steps": longer}
    schedules: dict[str, Schedule] = {
        "list": ("polynomial_decay_lr", {**shape, **in_epochs}),
        "cell": ("PolynomialDecayLR", {**shape, **in_steps}),
        **_both(stepped),
    }
    return Family(name, formula, schedules)


def _constant_then_exponential(factor: float, steps: int) -> list[Schedule]:
    """Schedules inside another: a share of the rate for some steps, and an exponential decay."""
    return [
        ("ConstantLR", {"factor": factor, "total_iters": steps}),
        ("ExponentialLR", {"gamma": 0.9}),
    ]


DECAYS: tuple[Family, ...] = (
    _decay(
        "exponential",
        "0.1 · 0.9^t",
        EXPONENTIAL,
        ("ExponentialLR", {"gamma": 0.9}),
        rate=0.9,
    ),
    _decay(
        "exponential in stairs",
        "0.1 · 0.5^⌊t/5⌋",
        EXPONENTIAL,
        ("StepLR", {"step_size": WARM_UP_STEPS, "gamma": DECAY}),
        every=WARM_UP_STEPS,
    ),
    # e^(-rate · t) is (e^(-rate))^t, an exponential by another factor.
    _decay(
        "natural exponential",
        "0.1 · e^(-0.5 t)",
        NATURAL_EXPONENTIAL,
        ("ExponentialLR", {"gamma": math.exp(-DECAY)}),
    ),
    _decay(
        "natural exponential in stairs",
        "0.1 · e^(-0.5 · 5 · ⌊t/5⌋)",
        NATURAL_EXPONENTIAL,
        ("StepLR", {"step_size": WARM_UP_STEPS, "gamma": math.exp(-DECAY * WARM_UP_STEPS)}),
        every=WARM_UP_STEPS,
    ),
    # PyTorch has no scheduler for the inverse decay.
    _decay("inverse", "0.1 / (1 + 0.5 t)", INVERSE, _by(inverse)),
    _decay(
        "inverse in stairs",
        "0.1 / (1 + 0.5 ⌊t/5⌋)",
        INVERSE,
        _by(inverse_stairs),
        every=WARM_UP_STEPS,
    ),
    # After T_max, PyTorch's cosine comes back up; MindSpore's stays at its end (2.13.0, 2.10.0).
    _cosine(
        "cosine",
        IN_WORDS,
        ("CosineAnnealingLR", {"T_max": DECAY_STEPS, "eta_min": END_RATE}),
    ),
    _cosine(
        "cosine, then flat",
        IN_WORDS,
        _by(cosine_then_flat),
    ),
    _polynomial(
        "polynomial",
        IN_WORDS,
        ("PolynomialLR", {"total_iters": DECAY_STEPS, "power": 2.0}),
        end=0.0,
    ),
    _polynomial(
        "polynomial to an end",
        IN_WORDS,
        _by(polynomial_to_an_end),
        end=END_RATE,
    ),
    _polynomial(
        "polynomial over longer spans",
        IN_WORDS,
        _by(polynomial_over_longer_spans),
        end=END_RATE,
        longer=True,
    ),
    Family(
        "warm-up",
        "0.1 · min(t, 5)/5",
        {
            "list": (
                "warmup_lr",
                {"learning_rate": RATE, **EPOCHS, "warmup_epoch": WARM_UP_STEPS},
            ),
            "cell": ("WarmUpLR", {"learning_rate": RATE, "warmup_steps": WARM_UP_STEPS}),
            **_both(_by(warm_up)),
        },
    ),
    # Both frameworks refuse a start at nothing (MindSpore 2.10.0, PyTorch 2.13.0).
    _same(
        "warm-up from 0 by LinearLR",
        "0.1 · min(t, 5)/5",
        "LinearLR",
        start_factor=0.0,
        total_iters=WARM_UP_STEPS,
    ),
    # A milestone is the step at which the next rate begins, in both frameworks.
    Family(
        "piecewise constant",
        IN_WORDS,
        {
            "list": (
                "piecewise_constant_lr",
                {"milestone": [5, 10, STEPS], "learning_rates": [0.1, 0.05, 0.025]},
            ),
            **_both(("MultiStepLR", {"milestones": [5, 10], "gamma": 0.5})),
        },
    ),
)
"""What MindSpore has as a list or as a Cell."""

STEPPED_BY_HAND: tuple[Family, ...] = (
    _same("linear", IN_WORDS, "LinearLR"),
    _same(
        "constant, then whole",
        IN_WORDS,
        "ConstantLR",
        factor=0.5,
        total_iters=5,
    ),
    _same("multiplied", "0.1 · 0.9^t", "MultiplicativeLR", lr_lambda=nine_tenths.__name__),
    _same(
        "one after another",
        IN_WORDS,
        "SequentialLR",
        schedulers=_constant_then_exponential(0.1, steps=5),
        milestones=[5],
    ),
    _same(
        "one after another, cut short",
        IN_WORDS,
        "SequentialLR",
        schedulers=_constant_then_exponential(0.1, steps=2),
        milestones=[5],
    ),
    _same("on a plateau", IN_WORDS, "ReduceLROnPlateau", patience=2),
    _same(
        "cyclic",
        IN_WORDS,
        "CyclicLR",
        base_lr=0.01,
        max_lr=0.1,
        step_size_up=5,
    ),
    _same(
        "cyclic, halving",
        IN_WORDS,
        "CyclicLR",
        base_lr=0.01,
        max_lr=0.1,
        step_size_up=5,
        mode="triangular2",
    ),
    _same(
        "cosine with restarts",
        IN_WORDS,
        "CosineAnnealingWarmRestarts",
        T_0=5,
        T_mult=2,
    ),
    _in_torch(
        "one cycle",
        IN_WORDS,
        "OneCycleLR",
        max_lr=RATE,
        total_steps=STEPS + 1,  # the last rate is asked for after the last of STEPS steps
    ),
    _in_torch(
        "chained",
        IN_WORDS,
        "ChainedScheduler",
        schedulers=_constant_then_exponential(0.5, steps=5),
    ),
    _in_torch("averaging", IN_WORDS, "SWALR", swa_lr=0.05, anneal_epochs=5),
)
"""What is stepped by hand in both frameworks, or in PyTorch alone."""

FAMILIES = (*DECAYS, *STEPPED_BY_HAND)


def schedules_of(form: str, families: Iterable[Family] = FAMILIES) -> dict[str, Schedule]:
    """The schedules of one form, by family."""
    schedules = {}
    for family in families:
        if form in family.schedules:
            schedules[family.name] = family.schedules[form]
    return schedules


def families_by_scheduler(names: Iterable[str]) -> dict[str, Family]:
    """The first family of each of PyTorch's schedulers that are named, by the scheduler's name."""
    families: dict[str, Family] = {}
    for name in names:
        for family in FAMILIES:
            if family.schedule_name("torch") == name:
                families[name] = family
                break
    return families
