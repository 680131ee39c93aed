"""Claims about layers whose settings are turned round or renamed: dropout, batch norm, transposing."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import AXES, BATCH_NORM, DROPOUT_SETTINGS, MOMENTUM
from explorer.topics.operators.data import MOMENTA
from explorer.topics.operators.facts import (
    close,
    implied_momentum,
    statistics_moved,
    statistics_used,
)
from explorer.topics.operators.shown import TITLES, found, short
from explorer.topics.topic import Claim

SAMPLED = 0.02
"""Shares of 20,000 draws are within this of the probability."""


def _dropout(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    asked = found(evidence, DROPOUT_SETTINGS)
    ours, theirs = asked["mindspore"], asked["torch"]
    keep, rate, bare = ours["keep_prob=0.7"], ours["p=0.3"], ours["0.3 alone"]
    google = asked["keras"]["rate=0.3"]
    seen = (
        f"share kept: MindSpore keep_prob=0.7 {_share(keep)}, p=0.3 {_share(rate)}, Dropout(0.3) {_share(bare)}; "
        f"PyTorch p=0.3 {_share(theirs['p=0.3'])}, Dropout(0.3) {_share(theirs['0.3 alone'])}; Keras rate=0.3 {_share(google)}"
    )
    if raised(keep):
        return Ruling("outdated", seen, "Use p in both frameworks: keep_prob is gone.")
    if not _equal(keep, theirs["p=0.3"]):
        return Ruling(
            "does_not_hold",
            seen,
            "Count the survivors of your own dropout: keep_prob is not 1 - p here.",
        )
    if raised(rate):
        return Ruling("holds", seen, "Give MindSpore keep_prob = 1 - p.")
    means = "means keep_prob" if _equal(bare, keep, 0.3) else "means p"
    if _equal(rate, theirs["p=0.3"]):
        return Ruling(
            "holds_with_changes",
            seen,
            f"Write p= by name: it means the same in both; a bare number {means} in MindSpore.",
        )
    return Ruling(
        "does_not_hold",
        seen,
        "Use keep_prob = 1 - p in MindSpore: its p is another number than PyTorch's.",
    )


def _share(figure: Any) -> str:
    return said(figure) if raised(figure) else f"{figure['kept']:.3f}"


def _equal(one: Any, other: Any, kept: float | None = None) -> bool:
    """Whether two ways keep the same share; with ``kept``, whether ``one`` keeps that share."""
    if raised(one) or raised(other):
        return False
    wanted = other["kept"] if kept is None else kept
    return bool(abs(one["kept"] - wanted) <= SAMPLED)


def _states(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    states = found(evidence, BATCH_NORM)
    wrong: dict[str, list[str]] = {}
    for style in ("graph", "tape"):
        ours, theirs = states[f"mindspore-{style}"], states[f"torch-{style}"]
        pairs = [
            (ours[mine], theirs[other], f"{mine} / {other}")
            for mine, other in expects["counterparts"]
        ]
        wrong[style] = [name for one, other, name in pairs if not _same_state(one, other)]
    moving = [
        name
        for name, each in states["mindspore-tape"].items()
        if not raised(each) and statistics_moved(each) == "moved"
    ]
    google = [name for name, each in states["keras"].items() if statistics_used(each) == "batch"]
    settings = {name.partition(",")[0] for name in states["mindspore-tape"]}
    seen = (
        f"PyTorch {len(states['torch-tape'])} states, MindSpore {len(settings)} settings; outputs and gradients of "
        f"{len(expects['counterparts'])} counterparts agree but for {sum(map(len, wrong.values()))} in graph and tape; "
        f"running statistics move in: {'; '.join(moving)}. Keras takes the batch's in: {'; '.join(google)}"
    )
    if wrong["graph"] and wrong["tape"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the outputs of your own layer in both modes: the states do not correspond.",
        )
    if wrong["graph"] or wrong["tape"]:
        style = "graph" if wrong["graph"] else "tape"
        return Ruling(
            "depends_on_style",
            seen,
            f"Check the layer in {style} style: its states differ from PyTorch's there.",
        )
    if any("inference" in name for name in moving):
        note = "track_running_stats=False is use_batch_statistics=True, which goes on moving the running statistics at inference."
        return Ruling("holds", seen, note)
    return Ruling(
        "holds",
        seen,
        "Use use_batch_statistics=True for track_running_stats=False, None for the usual switch.",
    )


def _same_state(one: Any, other: Any) -> bool:
    if raised(one) or raised(other):
        return False
    gradients = zip(one["gradients"], other["gradients"], strict=True)
    return close(one["output"], other["output"]) and all(
        close(mine, theirs) for mine, theirs in gradients
    )


def _momentum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    after = found(evidence, MOMENTUM)
    ours, theirs = after["mindspore"], after["torch"]
    turned = all(close(ours[str(value)], theirs["one_minus"][str(value)]) for value in MOMENTA)
    plain = all(close(ours[str(value)], theirs["same"][str(value)]) for value in MOMENTA)
    weights = {who: implied_momentum(each["default"]) for who, each in after.items()}
    seen = (
        f"running mean after one step: MindSpore momentum 0.9 {short(ours['0.9'][0])}, "
        f"PyTorch 0.1 {short(theirs['one_minus']['0.9'][0])}, "
        f"PyTorch 0.9 {short(theirs['same']['0.9'][0])}, Keras 0.9 {short(after['keras']['0.9'][0])}; "
        f"weight of the old mean by default: {', '.join(f'{TITLES[who]} {each:g}' for who, each in weights.items())}"
    )
    if turned and not plain:
        equal = weights["mindspore"] == weights["torch"]
        note = "the defaults mean the same." if equal else "the defaults differ, so set it."
        return Ruling("holds", seen, f"Give PyTorch 1 minus MindSpore's momentum; {note}")
    if plain:
        return Ruling(
            "outdated",
            seen,
            "Give both frameworks the same momentum: it is no longer turned round.",
        )
    return Ruling(
        "does_not_hold",
        seen,
        "Compare the running mean after one step before you load or train batch norm.",
    )


def _transpose(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    axes = found(evidence, AXES)
    ours, theirs = axes["mindspore"], axes["torch"]
    order, swap = theirs["x.permute(3, 2, 1, 0)"], theirs["torch.transpose(x, 0, 3)"]
    mine = ours["ops.transpose(x, (3, 2, 1, 0))"]
    swaps = [name for name, made in ours.items() if "transpose" in name and made == swap]
    google = axes["keras"]["ops.transpose(x, (3, 2, 1, 0))"]
    seen = (
        f"from (1, 2, 3, 4): MindSpore ops.transpose(x, (3, 2, 1, 0)) {_shape(mine)}, "
        f"PyTorch x.permute(3, 2, 1, 0) {_shape(order)}, "
        f"PyTorch torch.transpose(x, 0, 3) {_shape(swap)}, Keras ops.transpose(x, (3, 2, 1, 0)) {_shape(google)}"
    )
    if (
        mine != order
        or raised(swap)
        or swap["shape"] != expects["swapped"]
        or order["shape"] != expects["permuted"]
    ):
        return Ruling(
            "does_not_hold", seen, "Check the shape after every transpose that you carry over."
        )
    if swaps:
        seen += f"; MindSpore swaps two axes too: {', '.join(swaps)}"
        note = "ops.transpose takes the whole order, as permute does; where both name two axes, MindSpore now swaps them as PyTorch."
        return Ruling("holds_with_changes", seen, note)
    return Ruling(
        "holds", seen, "Write ops.transpose for permute, and swapaxes for PyTorch's transpose."
    )


def _shape(made: Any) -> str:
    return said(made) if raised(made) else f"gives {short(made['shape'])}"


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=41,
        topic="operators",
        statement="Dropout takes the probability to keep in MindSpore (keep_prob), to drop in PyTorch (p = 1 - keep_prob).",
        guides=("000",),
        would="keep_prob=0.7 in MindSpore keeps the same share as p=0.3 in PyTorch, and MindSpore knows no p.",
        measurements=tuple(DROPOUT_SETTINGS.values()),
        judge=_dropout,
    ),
    Claim(
        id=42,
        topic="operators",
        statement="BatchNorm2d has four states in PyTorch (training, track_running_stats) and three settings in MindSpore.",
        guides=("000",),
        would="Each PyTorch state has a setting of use_batch_statistics with the same outputs and gradients.",
        measurements=tuple(BATCH_NORM.values()),
        judge=_states,
        expects={
            "counterparts": (
                ("use_batch_statistics=None, training", "track_running_stats=True, training"),
                ("use_batch_statistics=None, inference", "track_running_stats=True, inference"),
                ("use_batch_statistics=True, training", "track_running_stats=False, training"),
                ("use_batch_statistics=True, inference", "track_running_stats=False, inference"),
                ("use_batch_statistics=False, inference", "track_running_stats=True, inference"),
            )
        },
    ),
    Claim(
        id=43,
        topic="operators",
        statement="Batch norm's momentum in PyTorch is 1 minus the momentum in MindSpore.",
        guides=("000",),
        would="After one step the running mean is the same for momentum m in MindSpore and 1 - m in PyTorch.",
        measurements=tuple(MOMENTUM.values()),
        judge=_momentum,
    ),
    Claim(
        id=44,
        topic="operators",
        statement="MindSpore's transpose is PyTorch's permute; PyTorch's transpose swaps two axes.",
        guides=("000",),
        would="(1, 2, 3, 4) becomes (4, 3, 2, 1) by MindSpore's transpose and permute, (4, 2, 3, 1) by PyTorch's transpose.",
        measurements=tuple(AXES.values()),
        judge=_transpose,
        expects={"permuted": [4, 3, 2, 1], "swapped": [4, 2, 3, 1]},
    ),
)
