"""The claim about the rates of parameter groups: who can be asked, and what is answered."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.arguments import END_RATE, GAMMA, RATE
from explorer.topics.schedules.claims import NEAR
from explorer.topics.schedules.questions import GROUP_RATES, TOPIC


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
    mindspore, torch = evidence[GROUP_RATES]["mindspore"], evidence[GROUP_RATES]["torch"]
    by_parameter, current = mindspore["get_lr_parameter"], mindspore["get_lr"]
    by_group = mindspore["param_groups"]
    telling = [place for place, figure in by_group.items() if _are(figure, [RATE, END_RATE])]
    seen = tuple(_rates_seen(mindspore, torch, expects))
    if all(raised(figure) for figure in by_parameter.values()):
        return Ruling("outdated", seen, "Keep the rates that you set: get_lr_parameter fails.")
    if not _are_of_kinds(by_parameter, expects["kinds"]):
        return Ruling(
            "does_not_hold", seen, "Look at the type of what get_lr_parameter returns before use."
        )
    if not _are(torch["get_last_lr"], expects["get_last_lr"]):
        return Ruling(
            "does_not_hold", seen, "Print PyTorch's rates by group before you rely on them."
        )
    if "nn" in telling:
        return Ruling("outdated", seen, "Read the rate of a group from param_groups.")

    advice = "With mindspore.nn ask get_lr_parameter for a fixed rate; of a list or a schedule it"
    if all(_are(figure, expects["after a step"]) for figure in current.values()):
        advice += " gives all rates, and get_lr() the current one of each parameter"
    else:
        advice += " gives all rates, and the steps must be counted"
    if "experimental" in telling:
        return Ruling(
            "holds_with_changes",
            seen,
            f"{advice}. With mindspore.experimental.optim read param_groups.",
        )
    return Ruling("holds", seen, f"{advice}.")


def _rates_seen(
    mindspore: Figures, torch: Figures, expects: Mapping[str, Any]
) -> Iterator[Observation]:
    """What get_lr_parameter, get_lr, param_groups and PyTorch's get_last_lr return."""
    for kind, figure in mindspore["get_lr_parameter"].items():
        what = f"get_lr_parameter where the rate is a {kind}"
        as_stated = _is_of_kind(figure, expects["kinds"][kind])
        yield Observation(what, _described(figure), ("mindspore",), as_stated)
    for kind, figure in mindspore["get_lr"].items():
        what = f"get_lr() after a step where the rate is a {kind}"
        yield Observation(what, _rates(figure), ("mindspore",))
    for place, figure in mindspore["param_groups"].items():
        yield Observation("rates in param_groups", _rates(figure), (place,), raised(figure))
    last_rates = torch["get_last_lr"]
    as_stated = _are(last_rates, expects["get_last_lr"])
    yield Observation("get_last_lr() after a step", _rates(last_rates), ("torch",), as_stated)


def _are(figure: Any, rates: list[float]) -> bool:
    """Whether an attempt told these rates."""
    return not raised(figure) and greatest_difference(figure, rates) < NEAR


def _rates(figure: Any) -> str:
    return said(figure) if raised(figure) else digits(figure)


def _described(figure: Any) -> str:
    if raised(figure):
        return said(figure)
    kinds = []
    for told in figure:
        shape = f" of shape {tuple(told['shape'])}" if "shape" in told else ""
        kinds.append(f"{told['kind']}{shape}")
    return ", ".join(kinds)


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
