"""Claims about initial values: what the weights and biases of convolutions and dense layers are
drawn from by default.
"""

from collections.abc import Callable
from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import INITIAL
from explorer.topics.operators.facts import fits
from explorer.topics.operators.shown import TITLES, found
from explorer.topics.topic import Claim

UNIFORM, NORMAL = "U(-sqrt k, sqrt k)", "N(0, 1)"


def _default(kind: str) -> Callable[[Evidence, dict[str, Any]], Ruling]:
    """The judge of one kind of layer: "convolution" or "dense"."""

    def judge(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
        initial = found(evidence, INITIAL)
        weight, bias = (
            {who: each[f"{kind} {part}"] for who, each in initial.items()}
            for part in ("weight", "bias")
        )
        seen = f"sqrt k = {weight['torch']['bound']:.4f}; weights: "
        seen += "; ".join(f"{TITLES[who]} {_told(weight[who])}" for who in initial)
        seen += "; biases: " + "; ".join(f"{TITLES[who]} {_told(bias[who])}" for who in initial)
        asked = [TITLES[who] for who, each in initial.items() if not each["has_bias"][kind]]
        seen += f"; no bias unless asked: {', '.join(asked)}" if asked else ""
        ours, theirs = fits(weight["mindspore"]), fits(weight["torch"])
        shifts, others = fits(bias["mindspore"]), fits(bias["torch"])
        if UNIFORM not in theirs or UNIFORM not in others:
            return Ruling(
                "does_not_hold",
                seen,
                "Set the initial values of both frameworks yourself before you compare training.",
            )
        if NORMAL in ours and shifts == ["zeros"]:
            return Ruling(
                "holds",
                seen,
                "Give MindSpore the initialisers of PyTorch, HeUniform(sqrt 5) and a uniform bias.",
            )
        if NORMAL in ours or shifts == ["zeros"]:
            return Ruling(
                "holds_with_changes",
                seen,
                "Set the initial values of weights and biases yourself: only a part differs.",
            )
        if UNIFORM in ours and UNIFORM in shifts:
            note = "Leave the defaults: both frameworks draw from one distribution"
            return Ruling(
                "outdated",
                seen,
                f"{note}; ask MindSpore for the bias." if "MindSpore" in asked else f"{note}.",
            )
        return Ruling(
            "does_not_hold",
            seen,
            "Set the initial values of both frameworks yourself before you compare training.",
        )

    return judge


def _told(values: dict[str, Any]) -> str:
    if values["zeros"] == 1:
        return "all zeros"
    p = {name: f"{values['ks'][name]['p']:.2g}" for name in (UNIFORM, NORMAL)}
    return f"in [{values['minimum']:.4f}, {values['maximum']:.4f}], p {p[UNIFORM]} uniform, {p[NORMAL]} normal"


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=49,
        topic="operators",
        statement="Conv2d starts weights from N(0, 1) and biases from 0 in MindSpore, both from U(-sqrt k, sqrt k) in PyTorch.",
        guides=("000",),
        would="Kolmogorov-Smirnov tests rule out all but these distributions, and MindSpore's biases are 0.",
        measurements=tuple(INITIAL.values()),
        judge=_default("convolution"),
    ),
    Claim(
        id=50,
        topic="operators",
        statement="Dense starts weights from N(0, 1) and biases from 0; PyTorch's Linear starts both from U(-sqrt k, sqrt k).",
        guides=("000",),
        would="Kolmogorov-Smirnov tests rule out all but these distributions, and MindSpore's biases are 0.",
        measurements=tuple(INITIAL.values()),
        judge=_default("dense"),
    ),
)
