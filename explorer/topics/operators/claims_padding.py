"""Claims about borders: what "same" and padding by hand give, on which side an odd zero goes, and
sizes without padding.
"""

from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import POOL, SIDES, SIDES_OF_A_NUMBER, VALID
from explorer.topics.operators.facts import odd_sides, valid_size
from explorer.topics.operators.shown import alike, found, joined, short
from explorer.topics.topic import Claim

SAME, TOP_LEFT = "same", "zeros top and left, then valid"


def _same(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    pool = found(evidence, POOL)
    figures = {who: each[SAME] for who, each in pool.items()}
    seen = f'max pooling, "same": {joined(alike(figures))}'
    right = {who: figure == expects["pooled"] for who, figure in figures.items()}
    if right["mindspore-graph"] != right["mindspore-tape"]:
        return Ruling(
            "depends_on_style",
            seen,
            "Pool in the style that gives the figures, and check the other one.",
        )
    if not right["mindspore-graph"]:
        return Ruling(
            "does_not_hold", seen, 'Compare one small pooled image before you rely on "same".'
        )
    if not right["keras"]:
        return Ruling(
            "holds_with_changes",
            f"{seen}: Keras differs",
            "Do not expect TensorFlow's \"same\" to be MindSpore's.",
        )
    ceiling = [
        way for way, made in pool["torch-tape"].items() if way != SAME and made == expects["pooled"]
    ]
    if raised(figures["torch-tape"]) and ceiling:
        note = f'PyTorch\'s pooling has no "same": for these figures use {" or ".join(ceiling)}.'
        return Ruling("holds", f"{seen}; PyTorch gives it with {', '.join(ceiling)}", note)
    return Ruling("holds", seen, 'Use pad_mode="same" where TensorFlow has padding="same".')


def _by_hand(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    figures = {who: each[TOP_LEFT] for who, each in found(evidence, POOL).items()}
    right = [who for who, figure in figures.items() if figure == expects["pooled"]]
    seen = f"zeros at the top and left, then no padding: {joined(alike(figures))}"
    if len(right) == len(figures):
        return Ruling(
            "holds",
            seen,
            "Pad by hand where the side matters: every framework then gives the same.",
        )
    styles = {who for who in figures if who.startswith("mindspore")} & set(right)
    if len(styles) == 1:
        return Ruling("depends_on_style", seen, "Check the padded image in the style that differs.")
    return Ruling(
        "does_not_hold", seen, "Print the padded image: the zeros are not where the guide has them."
    )


def _sides(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    sides = {who: odd_sides(each) for who, each in found(evidence, SIDES).items()}
    numbers = {who: odd_sides(each) for who, each in found(evidence, SIDES_OF_A_NUMBER).items()}
    seen = "; ".join(f'"same" in {name} {text}' for name, text in alike(sides, _counted).items())
    seen += "; " + "; ".join(
        f"padding=1 in {name} {text}" for name, text in alike(numbers, _counted).items()
    )
    ours, theirs = sides["mindspore"], sides["torch"]
    if not ours["after"] or ours["before"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Pad by hand: MindSpore does not put the odd zero at the right and bottom.",
        )
    if theirs["before"] and not theirs["after"]:
        return Ruling(
            "holds",
            seen,
            "Pad by hand where an odd zero must be on the same side in both frameworks.",
        )
    if theirs["after"] or theirs["before"]:
        note = 'With "same" both put the odd zero at the right and bottom; a number pads both sides and leaves out what is too many.'
        return Ruling(
            "does_not_hold",
            seen,
            note if not theirs["before"] else "Pad by hand: PyTorch's side depends on the size.",
        )
    if numbers["torch"]["before"] and not numbers["mindspore"]["before"]:
        return Ruling(
            "holds",
            seen,
            "Pad by hand where an odd zero must be on the same side in both frameworks.",
        )
    return Ruling("does_not_hold", seen, "Give both frameworks the padding as numbers.")


def _counted(odd: dict[str, list[str]]) -> str:
    refused = f", refuses {len(odd['refused'])} settings" if odd["refused"] else ""
    return f"puts the odd zero right/bottom {len(odd['after'])} times, left/top {len(odd['before'])} times{refused}"


def _valid(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    wrong = {
        who: [
            f"{case}: {short(made)}"
            for case, made in each.items()
            if any(size != valid_size(case) for size in made)
        ]
        for who, each in found(evidence, VALID).items()
    }
    cases = len(next(iter(found(evidence, VALID).values())))
    seen = f"{cases} cases of size, kernel and stride, by convolution, max and average pool; the formula misses: "
    seen += joined(alike(wrong, lambda each: str(len(each))))
    bad = [each for cases in wrong.values() for each in cases]
    if bad:
        return Ruling(
            "does_not_hold",
            f"{seen}; first: {bad[0]}",
            "Print the sizes of your own layers before you flatten them.",
        )
    return Ruling("holds", seen, "Compute sizes without padding alike in all frameworks.")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=45,
        topic="operators",
        statement='Max pooling of arange(9) in 3 x 3, window 2, stride 2, "same", gives [[4, 5], [7, 8]], as in TensorFlow.',
        guides=("000",),
        would='MindSpore\'s pad_mode="same" and Keras\'s padding="same" both give these figures.',
        measurements=tuple(POOL.values()),
        judge=_same,
        expects={"pooled": [[4, 5], [7, 8]]},
    ),
    Claim(
        id=46,
        topic="operators",
        statement="Padding the top and left by hand and then pooling without padding gives [[0, 2], [6, 8]].",
        guides=("000",),
        would="Every framework gives these figures for the padded image.",
        measurements=tuple(POOL.values()),
        judge=_by_hand,
        expects={"pooled": [[0, 2], [6, 8]]},
    ),
    Claim(
        id=47,
        topic="operators",
        statement="When the zeros to add are odd in number, PyTorch adds the extra one left and top, MindSpore right and bottom.",
        guides=("000",),
        would='Convolutions with "same" have their odd zero before in PyTorch and after in MindSpore.',
        measurements=(*SIDES.values(), *SIDES_OF_A_NUMBER.values()),
        judge=_sides,
    ),
    Claim(
        id=48,
        topic="operators",
        statement="Without padding the output size is floor((size - kernel) / stride) + 1.",
        guides=("000",),
        would="The formula gives the size of every convolution and pooling over a grid of sizes, kernels and strides.",
        measurements=tuple(VALID.values()),
        judge=_valid,
    ),
)
