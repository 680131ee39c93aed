"""Claims about learning-rate schedules: the guides' sequences, and who advances a schedule."""

from collections.abc import Iterable, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.counterparts import DECAYS
from explorer.topics.schedules.family import Family
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    LISTED_NAMES,
    LISTS,
    PIECEWISE,
    TOPIC,
    UNMATCHED,
    UNMATCHED_FAMILIES,
    UNMATCHED_NAMES,
    UNMATCHED_STEPS,
    USED,
)
from explorer.topics.schedules.readings import (
    FamilyComparison,
    Rates,
    compare,
    compare_all,
    exports,
    used_rates,
)

NEAR = 1e-6
"""Rates this near to the guides' are the guides': float32 has about seven digits."""

MOVED_BY_THE_OPTIMIZER = {"nn.SGD with a list", "nn.SGD with a Cell"}
STEPPED = "experimental SGD, stepped by hand"
NEVER_STEPPED = "experimental SGD, never stepped"
TORCH_NEVER_STEPPED = "SGD, never stepped"

AGREE = "the same rates"
BY_FUNCTION = "the same rates, with a function of your own in PyTorch"
PART = "other rates"
NOT_COMPARABLE = "not comparable"
OUTCOMES = (AGREE, BY_FUNCTION, PART, NOT_COMPARABLE)
"""The outcomes of comparing a family, in the order in which the evidence lists them."""


@TOPIC.claim(
    54,
    "piecewise_constant_lr holds each rate up to its milestone and returns the whole sequence as a"
    " list.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: learning rate"},
    would="milestones 2, 5, 10 with rates 0.1, 0.05, 0.01 give two, three and five steps of them",
    asks=(PIECEWISE,),
    expects={"rates": [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]},
)
def piecewise_constant(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the function gives the guide's sequence.

    It holds with changes when the function is deprecated, and is outdated when it is gone.
    """
    figures = evidence[PIECEWISE]["mindspore"]
    rates, ending = figures["rates"], figures["deprecated"]
    if raised(rates):
        return Ruling(
            "outdated",
            (Observation("piecewise_constant_lr", said(rates), ("mindspore",), expected=False),),
            "Write the list of rates yourself: the function is gone.",
        )
    is_guides = figures["type"] == "list" and _near(rates, expects["rates"])
    seen: tuple[Observation, ...] = (
        Observation(
            "piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])",
            str(rates),
            ("mindspore",),
            is_guides,
        ),
    )
    if not is_guides:
        return Ruling(
            "does_not_hold",
            seen,
            "Print what it returns before you train with it: it is not the guide's list.",
        )
    # The documentation of 2.10.0 announces the end of the function.
    if ending:
        return Ruling(
            "holds_with_changes",
            (*seen, Observation("its documentation", ending, ("mindspore",))),
            "Write the list of rates yourself: it is no more than what the function returns.",
        )
    return Ruling("holds", seen, "Give the list to the optimizer as its learning rate.")


@TOPIC.claim(
    55,
    "An exponential schedule is stepped by hand in PyTorch and by the optimizer's own call in"
    " MindSpore.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: learning rate"},
    would="from 0.1 with factor 0.9 both use the same rates; without scheduler.step() only"
    " MindSpore's rate decays",
    asks=(USED,),
    expects={
        "rates": [0.09, 0.081, 0.0729, 0.06561, 0.059049],
        "used": [0.1, 0.09, 0.081, 0.0729, 0.06561],
    },
)
def exponential(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's optimizers advance the schedule, and PyTorch's wait for ``step()``.

    It holds with changes when MindSpore's experimental optimizers wait for it too.
    """
    mindspore, torch = evidence[USED]["mindspore"], evidence[USED]["torch"]
    # Both frameworks call their optimizer SGD: the prefix tells them apart in one list.
    figures = mindspore | {f"torch.optim.{way}": figure for way, figure in torch.items()}
    decaying = []
    for way, figure in figures.items():
        if _near(used_rates(figure), expects["used"]):
            decaying.append(way)

    last_rates = torch["SGD, stepped by hand"].get("said")
    never_stepped = _stays(used_rates(torch[TORCH_NEVER_STEPPED]))
    seen = (
        Observation(
            "get_last_lr() after each step()",
            _brief(last_rates),
            ("torch",),
            _near(last_rates, expects["rates"]),
        ),
        *(
            Observation(
                f"rate used by {way}",
                _brief(used_rates(figure)),
                ("torch" if way.startswith("torch.") else "mindspore",),
                _is_as_stated(way, way in decaying, never_stepped),
            )
            for way, figure in figures.items()
        ),
    )
    as_the_guides_say = (
        _near(last_rates, expects["rates"])
        and never_stepped
        and set(decaying) >= MOVED_BY_THE_OPTIMIZER
    )
    if not as_the_guides_say:
        return Ruling(
            "does_not_hold",
            seen,
            "Print the rates of the first steps on both sides before you compare training runs.",
        )
    # The guide is older than MindSpore's experimental optimizers, whose schedules wait for step().
    if STEPPED in decaying and NEVER_STEPPED not in decaying:
        return Ruling(
            "holds_with_changes",
            seen,
            "nn optimizers move a list or Cell on by themselves; with experimental optimizers call"
            " scheduler.step() yourself.",
        )
    return Ruling("holds", seen, "Call scheduler.step() in PyTorch, and nothing in MindSpore.")


def _is_as_stated(way: str, decays: bool, torch_stays: bool) -> bool | None:
    """Whether a rate is used as the statement says; None where it says nothing of the way."""
    if way == f"torch.optim.{TORCH_NEVER_STEPPED}":
        return torch_stays
    # MindSpore's rates are said to move on by themselves, whichever its optimizer is.
    is_spoken_of = way in {*MOVED_BY_THE_OPTIMIZER, NEVER_STEPPED} or way.startswith("torch.")
    return decays if is_spoken_of else None


def _near(rates: Rates | None, expected: Rates) -> bool:
    return rates is not None and greatest_difference(rates, expected) < NEAR


def _stays(rates: Rates | None) -> bool:
    return rates is not None and max(rates) - min(rates) < NEAR


def _brief(rates: Rates | None) -> str:
    return "none" if rates is None else "[" + ", ".join(f"{rate:.6g}" for rate in rates) + "]"


@TOPIC.claim(
    56,
    "Exponential and cosine decay have counterparts in PyTorch; natural exponential, inverse and"
    " polynomial decay have none.",
    heading="optimizers",
    guides=("002",),
    would="ExponentialLR and CosineAnnealingLR give the rates of the first two at every step, and no"
    " scheduler of PyTorch those of the other three",
    asks=(LISTS, CELLS, BY_HAND.by("torch")),
    expects={
        "with": ("exponential", "cosine"),
        "without": ("natural exponential", "inverse", "polynomial"),
    },
    sections={"002": "Arguments of the base class: learning rate"},
)
def counterparts(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch's own schedulers give the rates of the first, and none those of the others.

    Outdated when one of the others has a scheduler with its rates; with changes when one of the
    first parts at some step; does not hold when none of the first agrees or one is not comparable.
    """
    plain = [family for family in DECAYS if family.name in (*expects["with"], *expects["without"])]
    by_outcome: dict[str, list[FamilyComparison]] = {}
    for comparison in compare_all(evidence, plain):
        by_outcome.setdefault(_outcome(comparison), []).append(comparison)

    seen = tuple(
        Observation(
            f"{comparison.family.name} decay over 20 steps",
            _compared(comparison),
            ("mindspore",),
            (_outcome(comparison) == AGREE) == (comparison.family.name in expects["with"]),
        )
        for name in OUTCOMES
        for comparison in by_outcome.get(name, ())
    )
    agreeing = _names(by_outcome.get(AGREE, []))
    if NOT_COMPARABLE in by_outcome or not agreeing & set(expects["with"]):
        return Ruling(
            "does_not_hold",
            seen,
            "Write the schedule as a list or with LambdaLR, and compare the sequences.",
        )
    advice = _what_to_use(by_outcome)
    if agreeing & set(expects["without"]):
        return Ruling("outdated", seen, advice)
    if not agreeing.issuperset(expects["with"]):
        return Ruling("holds_with_changes", seen, advice)
    return Ruling("holds", seen, advice)


def _outcome(comparison: FamilyComparison) -> str:
    if comparison.first_different_step is not None:
        return PART
    if not comparison.same:
        return NOT_COMPARABLE
    return AGREE if comparison.has_own_scheduler else BY_FUNCTION


def _names(comparisons: Iterable[FamilyComparison]) -> set[str]:
    return {comparison.family.name for comparison in comparisons}


def _compared(comparison: FamilyComparison) -> str:
    """What gives the rates of a family in PyTorch, or from which step on they are others."""
    outcome = _outcome(comparison)
    if outcome == AGREE:
        return f"the rates of {_scheduler(comparison.family)}"
    if outcome == PART:
        return f"other rates than PyTorch's from step {comparison.first_different_step}"
    return outcome


def _what_to_use(by_outcome: Mapping[str, list[FamilyComparison]]) -> str:
    """PyTorch's call for each family, by how it compares."""
    families = [comparison.family for comparison in by_outcome[AGREE]]
    schedulers = [f"{_scheduler(family)} for {family.name}" for family in families]
    advice = [f"Use {', '.join(schedulers)}"]
    if BY_FUNCTION in by_outcome:
        advice.append(f"LambdaLR for {', '.join(sorted(_names(by_outcome[BY_FUNCTION])))}")
    for comparison in by_outcome.get(PART, []):
        step = comparison.first_different_step
        advice.append(f"end the {comparison.family.name} before step {step}")
    return f"{'; '.join(advice)}."


def _scheduler(family: Family) -> str:
    """PyTorch's scheduler for a family, with the argument that is not carried over as it is."""
    name = family.schedule_name("torch")
    # e^(-rate · t) is an exponential decay by another factor.
    return f"{name}(gamma=e^(-rate))" if family.name == "natural exponential" else f"{name}"


LISTED = "piecewise_constant_lr gives the rates of"
MATCHING = f"in MindSpore, with PyTorch's rates over {UNMATCHED_STEPS} steps"
PARTING = "in MindSpore, with other rates than PyTorch's"
UNCOMPARED = "in MindSpore, and not compared"
MISSING = "not in MindSpore"
GONE = "not in PyTorch either"
SCHEDULER_OUTCOMES = (MATCHING, PARTING, UNCOMPARED, MISSING, GONE)
"""What can become of a scheduler's name, in the order in which the evidence lists it."""


@TOPIC.claim(
    63,
    "PyTorch's StepLR and MultiStepLR are piecewise_constant_lr in MindSpore;"
    " CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau, LambdaLR and"
    " MultiplicativeLR have no counterpart there.",
    heading="optimizers",
    guides=("002",),
    would="piecewise_constant_lr gives the rates of the first two, and MindSpore exports no scheduler"
    " that is called like one of the others",
    asks=(EXPORTED, UNMATCHED, LISTS),
    expects={"listed": LISTED_NAMES, "unmatched": UNMATCHED_NAMES},
    sections={"002": "Arguments of the base class: learning rate"},
)
def without_counterpart(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the function lists the rates of the first, and MindSpore has none of the others.

    Does not hold when it lists other rates. Outdated when MindSpore has one of the others that
    gives PyTorch's rates; with changes when those that it has give others.
    """
    unlisted = [name for name in expects["listed"] if not _is_listed(evidence, name)]
    if unlisted:
        return Ruling(
            "does_not_hold",
            (
                Observation(
                    "piecewise_constant_lr gives other rates than",
                    ", ".join(unlisted),
                    ("mindspore",),
                    expected=False,
                ),
            ),
            "Make a list of PyTorch's rates for an optimizer of mindspore.nn.",
        )
    by_outcome: dict[str, list[str]] = {LISTED: list(expects["listed"])}
    by_outcome |= {name: [] for name in SCHEDULER_OUTCOMES}
    for name in expects["unmatched"]:
        by_outcome[_scheduler_outcome(evidence, name)].append(name)

    as_stated = {LISTED: True, MISSING: True, MATCHING: False, PARTING: False, UNCOMPARED: False}
    seen = tuple(
        Observation(outcome, ", ".join(names), expected=as_stated.get(outcome))
        for outcome, names in by_outcome.items()
        if names
    )
    missing = by_outcome[MISSING]
    if by_outcome[MATCHING]:
        advice = (
            "Take those with PyTorch's rates from mindspore.experimental.optim.lr_scheduler,"
            " and step them yourself"
        )
        if missing:
            advice += (
                f"; of {', '.join(missing)} make a list of rates for an optimizer of mindspore.nn"
            )
        return Ruling("outdated", seen, f"{advice}.")
    if by_outcome[PARTING] or by_outcome[UNCOMPARED]:
        return Ruling(
            "holds_with_changes", seen, "Print the rates of a few steps before you rely on a name."
        )
    return Ruling("holds", seen, "Make a list of PyTorch's rates for an optimizer of mindspore.nn.")


def _is_listed(evidence: Evidence, name: str) -> bool:
    """Whether piecewise_constant_lr lists the first rates of PyTorch's scheduler called ``name``."""
    family = UNMATCHED_FAMILIES[name]
    torch = evidence[UNMATCHED]["torch"]
    listed = evidence[LISTS]["mindspore"]["piecewise constant"]
    if not raised(listed):
        listed = listed[:UNMATCHED_STEPS]
    return compare(family, {"list": {family.name: listed}, "torch": torch}).same


def _scheduler_outcome(evidence: Evidence, name: str) -> str:
    """Whether both frameworks have a scheduler of a name, and whether it gives the same rates."""
    exported = exports(evidence)
    if name not in exported["torch"]:
        return GONE
    if name not in exported["hand"]:
        return MISSING
    rates = evidence[UNMATCHED]
    comparison = compare(
        UNMATCHED_FAMILIES[name], {"hand": rates["mindspore"], "torch": rates["torch"]}
    )
    if comparison.difference is None:
        return UNCOMPARED
    return MATCHING if comparison.same else PARTING
