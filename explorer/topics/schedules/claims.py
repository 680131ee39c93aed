"""Claims about learning-rate schedules: the guides' sequences, and who moves a schedule on."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules import (
    CELLS,
    HAND_TORCH,
    LISTS,
    PIECEWISE,
    USED_MINDSPORE,
    USED_TORCH,
)
from explorer.topics.schedules.comparing import own, pairs
from explorer.topics.schedules.families import DECAYS
from explorer.topics.schedules.tables import used_rates
from explorer.topics.topic import Claim

NEAR = 1e-6
PLAIN = ("exponential", "natural exponential", "inverse", "cosine", "polynomial")
"""The families that the guide lists."""

BY_ITSELF = ("nn.SGD with a list", "nn.SGD with a Cell")
BY_HAND = "experimental SGD, stepped by hand"
NEVER = "experimental SGD, never stepped"


def _piecewise(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = evidence[PIECEWISE.name]
    rates, ending = found["rates"], found["deprecated"]
    if raised(rates):
        return Ruling(
            "outdated",
            said(rates),
            "Write the list yourself, or use MultiStepLR: the function is gone.",
        )
    seen = f"piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01]) = {rates}"
    if greatest_difference(rates, expects["rates"]) > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Print the list before you train with it: it is not the one in the guide.",
        )
    if ending:
        note = "Use it while it lasts; a list of your own, or experimental MultiStepLR stepped by hand, does the same."
        return Ruling("holds_with_changes", f"{seen}; its documentation: {ending}", note)
    return Ruling("holds", seen, "Give the list to the optimizer as its learning rate.")


def _exponential(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    ours, theirs = evidence[USED_MINDSPORE.name], evidence[USED_TORCH.name]
    ways = {**ours, **{f"torch.optim.{way}": each for way, each in theirs.items()}}
    rates = {way: used_rates(each) for way, each in ways.items()}
    said_rates = theirs["SGD, stepped by hand"].get("said")
    decays = [
        way
        for way, each in rates.items()
        if each and greatest_difference(each, expects["used"]) < NEAR
    ]
    right = said_rates is not None and greatest_difference(said_rates, expects["rates"]) < NEAR
    stays = rates["torch.optim.SGD, never stepped"]
    still = stays is not None and max(stays) - min(stays) < NEAR
    seen = f"get_last_lr() after each step(): {_short(said_rates)}; the rate decays in: {'; '.join(decays) or 'none'}"
    if not (right and still and all(way in decays for way in BY_ITSELF)):
        return Ruling(
            "does_not_hold",
            seen,
            "Print the rates of the first steps on both sides before you compare training runs.",
        )
    if BY_HAND in decays and NEVER not in decays:
        note = "nn optimizers move a list or Cell on by themselves; with experimental optimizers call scheduler.step() yourself."
        return Ruling("holds_with_changes", f"{seen}; and stays in: {NEVER}", note)
    return Ruling("holds", seen, "Call scheduler.step() in PyTorch, and nothing in MindSpore.")


def _side_by_side(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = {
        each.family.name: each for each in pairs(evidence, DECAYS) if each.family.name in PLAIN
    }
    same = [name for name, each in found.items() if each.same and own(each)]
    written = [name for name, each in found.items() if each.same and not own(each)]
    part = [
        f"{name} (from step {each.parts})" for name, each in found.items() if each.parts is not None
    ]
    lost = [name for name, each in found.items() if each.difference is None]
    seen = "; ".join(
        f"{what}: {', '.join(names)}"
        for what, names in (
            ("the same rates over 20 steps", same),
            ("only with a function of your own in PyTorch", written),
            ("part", part),
            ("not comparable", lost),
        )
        if names
    )
    if not part and not lost:
        return Ruling(
            "holds",
            seen,
            "Use gamma = e^(-rate) for the natural exponential, and LambdaLR where PyTorch has no own schedule.",
        )
    if len(same) + len(written) + len(part) < len(found) or not same:
        return Ruling(
            "does_not_hold",
            seen,
            "Write the schedule as a list or with LambdaLR, and compare the sequences.",
        )
    note = "Use gamma = e^(-rate) for the natural exponential, LambdaLR for the inverse; stop a cosine at T_max, MindSpore's stays."
    return Ruling("holds_with_changes", seen, note)


def _short(rates: list[float] | None) -> str:
    return "none" if rates is None else "[" + ", ".join(f"{rate:.6g}" for rate in rates) + "]"


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=54,
        topic="optimizers",
        statement="piecewise_constant_lr holds each rate up to its milestone and returns the whole sequence as a list.",
        guides=("002",),
        would="milestones 2, 5, 10 with rates 0.1, 0.05, 0.01 give two, three and five steps of them",
        measurements=(PIECEWISE,),
        judge=_piecewise,
        expects={"rates": [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]},
    ),
    Claim(
        id=55,
        topic="optimizers",
        statement="An exponential schedule is stepped by hand in PyTorch and by the optimizer's own call in MindSpore.",
        guides=("002",),
        would="from 0.1 with factor 0.9 both use the same rates; without scheduler.step() only MindSpore's rate decays",
        measurements=(USED_MINDSPORE, USED_TORCH),
        judge=_exponential,
        expects={
            "rates": [0.09, 0.081, 0.0729, 0.06561, 0.059049],
            "used": [0.1, 0.09, 0.081, 0.0729, 0.06561],
        },
    ),
    Claim(
        id=56,
        topic="optimizers",
        statement="Exponential, natural exponential, inverse, cosine and polynomial decay have counterparts in PyTorch.",
        guides=("002",),
        would="with matching settings each gives the same sequence as a scheduler of PyTorch, at every step",
        measurements=(LISTS, CELLS, HAND_TORCH),
        judge=_side_by_side,
    ),
)
