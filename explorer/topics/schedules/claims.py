"""Claims about learning-rate schedules: their rates, who advances them, rates of groups."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.cells import NONE
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.comparison import (
    FamilyComparison,
    GroupRates,
    LastRates,
    Piecewise,
    Rates,
    compare,
    compare_all,
    exports,
    used_rates,
    way_text,
)
from explorer.topics.schedules.counterparts import DECAYS, END_RATE, GAMMA, RATE, STEPS, Family
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    GROUP_RATES,
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

NEAR = 1e-6
"""Rates this near to the guides' are the guides': float32 has about seven digits."""

MOVED_BY_THE_OPTIMIZER = {"nn.SGD with a list", "nn.SGD with a Cell"}
STEPPED = "experimental SGD, stepped by hand"
NEVER_STEPPED = "experimental SGD, never stepped"
TORCH_NEVER_STEPPED = "SGD, never stepped"

Outcome = Literal["agree", "by_function", "part", "not_comparable"]
"""The outcomes of comparing a family, in the order in which the evidence lists them.

The rates are the same, or the same with a function of one's own in PyTorch, or others.
"""

OUTCOMES: tuple[Outcome, ...] = ("agree", "by_function", "part", "not_comparable")


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
    piecewise = evidence.records(PIECEWISE, Piecewise)["mindspore"]
    rates, ending = piecewise.rates, piecewise.deprecated
    if raised(rates):
        gone = Observation("piecewise_constant_lr", said(rates), ("mindspore",), expected=False)
        return Ruling("outdated", (gone,))
    is_guides = piecewise.type == "list" and _near(rates, expects["rates"])
    called = "piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])"
    seen = (Observation(called, str(rates), ("mindspore",), is_guides),)
    if not is_guides:
        return Ruling("does_not_hold", seen)
    # The documentation of 2.10.0 announces the end of the function.
    if ending:
        notice = Observation(message("schedules.documentation"), ending, ("mindspore",))
        return Ruling("holds_with_changes", (*seen, notice))
    return Ruling("holds", seen)


@TOPIC.claim(
    55,
    "An exponential schedule is stepped by hand in PyTorch and by the optimizer's own call in"
    " MindSpore.",
    heading="optimizers",
    guides=("002", "000"),
    sections={
        "002": "Arguments of the base class: learning rate",
        "000": "Learning Rate Update",
    },
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
    last_rates = torch["SGD, stepped by hand"].get("said")
    never_stepped = _stays(used_rates(torch[TORCH_NEVER_STEPPED]))
    after_each_step = _near(last_rates, expects["rates"])
    what = message("schedules.last_rates")
    seen = [Observation(what, _brief(last_rates), ("torch",), after_each_step)]
    decaying = []
    for party, ways in (("mindspore", mindspore), ("torch", torch)):
        for way, figure in ways.items():
            # Both frameworks call their optimizer SGD: the prefix tells them apart in one list.
            name = f"torch.optim.{way}" if party == "torch" else way
            rates = used_rates(figure)
            decays = _near(rates, expects["used"])
            if decays:
                decaying.append(name)
            what = message("schedules.rate_used_by", way=way_text(name))
            as_stated = _is_as_stated(name, decays, never_stepped)
            seen.append(Observation(what, _brief(rates), (party,), as_stated))

    decays_by_itself = set(decaying) >= MOVED_BY_THE_OPTIMIZER
    if not (after_each_step and never_stepped and decays_by_itself):
        return Ruling("does_not_hold", tuple(seen))
    # The guide is older than MindSpore's experimental optimizers, whose schedules wait for step().
    if STEPPED in decaying and NEVER_STEPPED not in decaying:
        return Ruling("holds_with_changes", tuple(seen))
    return Ruling("holds", tuple(seen))


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


def _brief(rates: Rates | None) -> Text:
    if rates is None:
        return NONE
    return f"[{', '.join(format(rate, '.6g') for rate in rates)}]"


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
    named = (*expects["with"], *expects["without"])
    plain = [family for family in DECAYS if family.name in named]
    by_outcome: dict[Outcome, list[FamilyComparison]] = {}
    for comparison in compare_all(evidence, plain):
        by_outcome.setdefault(_outcome(comparison), []).append(comparison)

    seen: list[Observation] = []
    for outcome in OUTCOMES:
        for comparison in by_outcome.get(outcome, ()):
            family = comparison.family
            what = message("schedules.decay", family=family.label, steps=STEPS)
            as_stated = (outcome == "agree") == (family.name in expects["with"])
            seen.append(Observation(what, _compared(comparison), ("mindspore",), as_stated))

    agreeing = {comparison.family.name for comparison in by_outcome.get("agree", ())}
    if "not_comparable" in by_outcome or not agreeing & set(expects["with"]):
        return Ruling("does_not_hold", tuple(seen))
    advice = _what_to_use(by_outcome)
    if agreeing & set(expects["without"]):
        return Ruling("outdated", tuple(seen), advice)
    if not agreeing.issuperset(expects["with"]):
        return Ruling("holds_with_changes", tuple(seen), advice)
    return Ruling("holds", tuple(seen), advice)


def _outcome(comparison: FamilyComparison) -> Outcome:
    if comparison.first_different_step is not None:
        return "part"
    if not comparison.same:
        return "not_comparable"
    return "agree" if comparison.has_own_scheduler else "by_function"


def _compared(comparison: FamilyComparison) -> Message:
    """What gives the rates of a family in PyTorch, or from which step on they are others."""
    return message(
        f"schedules.{_outcome(comparison)}",
        scheduler=_scheduler(comparison.family),
        step=comparison.first_different_step,
    )


def _what_to_use(by_outcome: Mapping[Outcome, list[FamilyComparison]]) -> Message:
    """PyTorch's call for each family, by how it compares."""
    uses = []
    for comparison in by_outcome["agree"]:
        family = comparison.family
        uses.append(message("schedules.use_for", scheduler=_scheduler(family), family=family.label))
    clauses = [message("schedules.use", uses=tuple(uses))]
    families = [comparison.family for comparison in by_outcome.get("by_function", ())]
    if families:
        families.sort(key=lambda family: family.name)
        labels = tuple(family.label for family in families)
        clauses.append(message("schedules.use_function", families=labels))
    for comparison in by_outcome.get("part", ()):
        step = comparison.first_different_step
        clauses.append(message("schedules.end", family=comparison.family.label, step=step))
    return message("schedules.use_all", clauses=tuple(clauses))


def _scheduler(family: Family) -> str:
    """PyTorch's scheduler for a family, with the argument that is not carried over as it is."""
    name = family.schedule_name("torch")
    # e^(-rate · t) is an exponential decay by another factor.
    return f"{name}(gamma=e^(-rate))" if family.name == "natural exponential" else f"{name}"


SchedulerOutcome = Literal["listed", "matching", "other", "unknown", "missing", "gone"]
"""What can become of a scheduler's name.

piecewise_constant_lr lists its rates; MindSpore has it, with PyTorch's rates, with other ones, or
without a comparison; MindSpore has none, nor has PyTorch any more.
"""

AS_STATED: dict[SchedulerOutcome, bool | None] = {
    "listed": True,
    "matching": False,
    "other": False,
    "unknown": False,
    "missing": True,
    "gone": None,
}
"""Which outcomes are as the statement says, in the order in which the evidence lists them."""


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
        what = message("schedules.listed_otherwise")
        seen = Observation(what, ", ".join(unlisted), ("mindspore",), expected=False)
        return Ruling("does_not_hold", (seen,))
    by_outcome: dict[SchedulerOutcome, list[str]] = {outcome: [] for outcome in AS_STATED}
    by_outcome["listed"] = list(expects["listed"])
    for name in expects["unmatched"]:
        by_outcome[_scheduler_outcome(evidence, name)].append(name)

    rows = []
    for outcome, names in by_outcome.items():
        if names:
            what = message(f"schedules.{outcome}", steps=UNMATCHED_STEPS)
            rows.append(Observation(what, ", ".join(names), expected=AS_STATED[outcome]))
    if by_outcome["matching"]:
        advice: Text = ""
        if by_outcome["missing"]:
            advice = message("schedules.take_or_list", missing=tuple(by_outcome["missing"]))
        return Ruling("outdated", tuple(rows), advice)
    if by_outcome["other"] or by_outcome["unknown"]:
        return Ruling("holds_with_changes", tuple(rows))
    return Ruling("holds", tuple(rows))


def _is_listed(evidence: Evidence, name: str) -> bool:
    """Whether piecewise_constant_lr lists the first rates of PyTorch's scheduler called ``name``."""
    family = UNMATCHED_FAMILIES[name]
    torch = evidence[UNMATCHED]["torch"]
    listed = evidence[LISTS]["mindspore"]["piecewise constant"]
    if not raised(listed):
        listed = listed[:UNMATCHED_STEPS]
    return compare(family, {"list": {family.name: listed}, "torch": torch}).same


def _scheduler_outcome(evidence: Evidence, name: str) -> SchedulerOutcome:
    """Whether both frameworks have a scheduler of a name, and whether it gives the same rates."""
    exported = exports(evidence)
    if name not in exported["torch"]:
        return "gone"
    if name not in exported["hand"]:
        return "missing"
    rates = evidence[UNMATCHED]
    comparison = compare(
        UNMATCHED_FAMILIES[name], {"hand": rates["mindspore"], "torch": rates["torch"]}
    )
    if comparison.difference is None:
        return "unknown"
    return "matching" if comparison.same else "other"


@TOPIC.claim(
    65,
    "MindSpore cannot be asked for the rate of a group as PyTorch can; get_lr_parameter(params)"
    " gives scalar Parameters, Parameters of n rates, or Cells, by the kind of rate.",
    heading="optimizers",
    guides=("002",),
    would="a number gives a Parameter of shape (), a list one of shape (n,), a schedule a Cell, and"
    " param_groups is unknown",
    asks=(GROUP_RATES,),
    expects={
        "kinds": {
            "number": [{"kind": "Parameter", "shape": []}],
            "list": [{"kind": "Parameter", "shape": [3]}],
            "Cell": [{"kind": "Cell"}],
        },
        "after a step": [GAMMA * RATE, END_RATE],
        "get_last_lr": [GAMMA * RATE, GAMMA * END_RATE],
    },
    sections={"002": "Methods of the base class: learning rate"},
)
def group_rates(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the kinds are as expected, and no module of MindSpore tells rates by group.

    With changes when mindspore.experimental.optim does, outdated when mindspore.nn does or
    get_lr_parameter is gone.
    """
    mindspore = msgspec.convert(evidence[GROUP_RATES]["mindspore"], GroupRates)
    torch = msgspec.convert(evidence[GROUP_RATES]["torch"], LastRates)
    by_parameter = mindspore.get_lr_parameter
    telling = []
    for place, figure in mindspore.param_groups.items():
        if _are(figure, [RATE, END_RATE]):
            telling.append(place)
    seen = tuple(_rates_seen(mindspore, torch, expects))
    if all(map(raised, by_parameter.values())):
        return Ruling("outdated", seen)
    if not _are_of_kinds(by_parameter, expects["kinds"]):
        return Ruling("does_not_hold", seen)
    if not _are(torch.get_last_lr, expects["get_last_lr"]):
        return Ruling("does_not_hold", seen)
    if "nn" in telling:
        return Ruling("outdated", seen)
    if "experimental" not in telling:
        return Ruling("holds", seen)
    tells_current = all(
        _are(figure, expects["after a step"]) for figure in mindspore.get_lr.values()
    )
    return Ruling("holds_with_changes", seen, "" if tells_current else "counted")


def _rates_seen(
    mindspore: GroupRates, torch: LastRates, expects: Mapping[str, Any]
) -> Iterator[Observation]:
    """What get_lr_parameter, get_lr, param_groups and PyTorch's get_last_lr return."""
    for kind, figure in mindspore.get_lr_parameter.items():
        what = message(f"schedules.get_lr_parameter {kind}")
        as_stated = _is_of_kind(figure, expects["kinds"][kind])
        yield Observation(what, _described(figure), ("mindspore",), as_stated)
    for kind, figure in mindspore.get_lr.items():
        what = message(f"schedules.get_lr {kind}")
        yield Observation(what, _rates(figure), ("mindspore",))
    for place, figure in mindspore.param_groups.items():
        what = message("schedules.param_groups")
        yield Observation(what, _rates(figure), (place,), raised(figure))
    last_rates = torch.get_last_lr
    as_stated = _are(last_rates, expects["get_last_lr"])
    what = message("schedules.last_rates_after_one")
    yield Observation(what, _rates(last_rates), ("torch",), as_stated)


def _are(figure: Any, rates: list[float]) -> bool:
    """Whether an attempt told these rates."""
    return not raised(figure) and greatest_difference(figure, rates) < NEAR


def _rates(figure: Any) -> str:
    return said(figure) if raised(figure) else digits(figure)


def _described(figure: Any) -> Text:
    if raised(figure):
        return said(figure)
    kinds: list[Text] = []
    for parameter in figure:
        kind: Text = parameter["kind"]
        if "shape" in parameter:
            shape = str(tuple(parameter["shape"]))
            kind = message("schedules.of_shape", kind=kind, shape=shape)
        kinds.append(kind)
    return message("schedules.kinds", kinds=tuple(kinds)) if kinds else ""


def _are_of_kinds(by_parameter: Figures, kinds: Figures) -> bool:
    """Whether get_lr_parameter told things of the expected kinds for every kind of rate."""
    return all(_is_of_kind(by_parameter[kind], expected) for kind, expected in kinds.items())


def _is_of_kind(figure: Any, expected: list[dict[str, Any]]) -> bool:
    """Whether get_lr_parameter told things of the expected kinds and shapes."""
    if raised(figure) or len(figure) != len(expected):
        return False
    for told, wanted in zip(figure, expected, strict=True):
        if any(told.get(key) != value for key, value in wanted.items()):
            return False
    return True
