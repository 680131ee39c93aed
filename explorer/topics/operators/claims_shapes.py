"""Claims about shapes and borders: transposing, padding, output sizes (rows 44 to 48)."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.operators.inputs import WINDOWS
from explorer.topics.operators.questions import (
    AXES,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    MAX_POOL,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import odd_sides, valid_size
from explorer.topics.operators.wording import by_answer, joined, short
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style


@TOPIC.claim(
    44,
    "MindSpore's transpose is PyTorch's permute; PyTorch's transpose swaps two axes.",
    heading="operators",
    guides=("000",),
    sections={"000": "ops.Transpose"},
    would="(1, 2, 3, 4) becomes (4, 3, 2, 1) by MindSpore's transpose and permute,"
    " (4, 2, 3, 1) by PyTorch's transpose.",
    asks=(AXES,),
    expects={"permuted": [4, 3, 2, 1], "swapped": [4, 2, 3, 1]},
)
def transpose_is_permute(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when all three give these shapes.

    It holds with changes where a transpose of MindSpore swaps two axes too.
    """
    calls = evidence[AXES]
    transposed = calls["mindspore"]["ops.transpose(x, (3, 2, 1, 0))"]
    permuted = calls["torch"]["x.permute(3, 2, 1, 0)"]
    swapped = calls["torch"]["torch.transpose(x, 0, 3)"]
    in_keras = calls["keras"]["ops.transpose(x, (3, 2, 1, 0))"]
    seen = (
        f"from (1, 2, 3, 4): MindSpore ops.transpose(x, (3, 2, 1, 0)) {_shape(transposed)},"
        f" PyTorch x.permute(3, 2, 1, 0) {_shape(permuted)},"
        f" PyTorch torch.transpose(x, 0, 3) {_shape(swapped)},"
        f" Keras ops.transpose(x, (3, 2, 1, 0)) {_shape(in_keras)}"
    )
    as_expected = (
        transposed == permuted
        and permuted.get("shape") == expects["permuted"]
        and swapped.get("shape") == expects["swapped"]
    )
    if not as_expected:
        return Ruling(
            "does_not_hold", seen, "Check the shape after every transpose that you carry over."
        )
    swaps = []
    for call, figure in calls["mindspore"].items():
        if "transpose" in call and figure == swapped:
            swaps.append(call)
    if swaps:
        return Ruling(
            "holds_with_changes",
            f"{seen}; MindSpore swaps two axes too: {', '.join(swaps)}",
            "ops.transpose takes the whole order, as permute does;"
            " where both name two axes, MindSpore now swaps them as PyTorch.",
        )
    return Ruling(
        "holds", seen, "Write ops.transpose for permute, and swapaxes for PyTorch's transpose."
    )


def _shape(figure: Any) -> str:
    return said(figure) if raised(figure) else f"gives {short(figure['shape'])}"


@TOPIC.claim(
    45,
    'Max pooling of arange(9) in 3 x 3, window 2, stride 2, "same", gives [[4, 5], [7, 8]],'
    " as in TensorFlow.",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would='MindSpore\'s pad_mode="same" and Keras\'s padding="same" both give these figures.',
    asks=(MAX_POOL,),
    expects={"pooled": [[4, 5], [7, 8]]},
)
def same_pads_as_in_tensorflow(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both styles of MindSpore and Keras give the guide's figures."""
    answers = evidence[MAX_POOL]
    pooled = {party: figures["same"] for party, figures in answers.items()}
    seen = f'max pooling, "same": {joined(by_answer(pooled))}'
    as_said = by_style({style: pooled[style] == expects["pooled"] for style in MINDSPORE_STYLES})
    if as_said == "depends_on_style":
        return Ruling(
            as_said,
            seen,
            "Pool in the style that gives the figures, and check the other one.",
        )
    if as_said == "does_not_hold":
        return Ruling(as_said, seen, 'Compare one small pooled image before you rely on "same".')
    if pooled["keras"] != expects["pooled"]:
        return Ruling(
            "holds_with_changes",
            f"{seen}: Keras differs",
            "Do not expect TensorFlow's \"same\" to be MindSpore's.",
        )
    # PyTorch's pooling refuses "same" (2.13.0); another setting may give the same figures.
    others = []
    for way, figure in answers["torch-tape"].items():
        if way != "same" and figure == expects["pooled"]:
            others.append(way)
    if raised(pooled["torch-tape"]) and others:
        return Ruling(
            "holds",
            f"{seen}; PyTorch gives it with {', '.join(others)}",
            f'PyTorch\'s pooling has no "same": for these figures use {" or ".join(others)}.',
        )
    return Ruling("holds", seen, 'Use pad_mode="same" where TensorFlow has padding="same".')


@TOPIC.claim(
    46,
    "Padding the top and left by hand and then pooling without padding gives [[0, 2], [6, 8]].",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would="Every framework gives these figures for the padded image.",
    asks=(MAX_POOL,),
    expects={"pooled": [[0, 2], [6, 8]]},
)
def padding_by_hand(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when everybody gives the guide's figures."""
    pooled: dict[str, Any] = {}
    for party, figures in evidence[MAX_POOL].items():
        pooled[party] = figures["zeros top and left, then valid"]
    right = [party for party, figure in pooled.items() if figure == expects["pooled"]]
    seen = f"zeros at the top and left, then no padding: {joined(by_answer(pooled))}"
    if len(right) == len(pooled):
        return Ruling(
            "holds",
            seen,
            "Pad by hand where the side matters: every framework then gives the same.",
        )
    if len(set(right) & set(MINDSPORE_STYLES)) == 1:
        return Ruling("depends_on_style", seen, "Check the padded image in the style that differs.")
    return Ruling(
        "does_not_hold", seen, "Print the padded image: the zeros are not where the guide has them."
    )


@TOPIC.claim(
    47,
    "When the zeros to add are odd in number, PyTorch adds the extra one left and top,"
    " MindSpore right and bottom.",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would='Convolutions with "same" have their odd zero before in PyTorch and after in MindSpore.',
    asks=(CONVOLUTION_SIDES, CONVOLUTION_SIDES_OF_A_NUMBER),
)
def sides_of_the_odd_zero(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when "same" has the odd zero after the axis in MindSpore, and before it in PyTorch.

    Where PyTorch has no "same", padding by a number decides.
    """
    same = _odd_sides(evidence[CONVOLUTION_SIDES])
    numbers = _odd_sides(evidence[CONVOLUTION_SIDES_OF_A_NUMBER])
    sentences = []
    for names, text in by_answer(same, _counted).items():
        sentences.append(f'"same" in {names} {text}')
    for names, text in by_answer(numbers, _counted).items():
        sentences.append(f"padding=1 in {names} {text}")
    seen = "; ".join(sentences)
    holds = Ruling(
        "holds",
        seen,
        "Pad by hand where an odd zero must be on the same side in both frameworks.",
    )
    mindspore, torch = same["mindspore"], same["torch"]
    if not mindspore["after"] or mindspore["before"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Pad by hand: MindSpore does not put the odd zero at the right and bottom.",
        )
    if torch["before"] and torch["after"]:
        return Ruling("does_not_hold", seen, "Pad by hand: PyTorch's side depends on the size.")
    if torch["before"]:
        return holds
    if torch["after"]:
        return Ruling(
            "does_not_hold",
            seen,
            'With "same" both put the odd zero at the right and bottom;'
            " a number pads both sides and leaves out what is too many.",
        )
    # PyTorch's "same" has no odd zero to be looked at: what is left is padding by a number.
    if numbers["torch"]["before"] and not numbers["mindspore"]["before"]:
        return holds
    return Ruling("does_not_hold", seen, "Give both frameworks the padding as numbers.")


def _odd_sides(answers: dict[str, Figures]) -> dict[str, dict[str, list[str]]]:
    return {library: odd_sides(figures) for library, figures in answers.items()}


def _counted(odd: dict[str, list[str]]) -> str:
    refusal = f", refuses {len(odd['refused'])} settings" if odd["refused"] else ""
    return (
        f"puts the odd zero right/bottom {len(odd['after'])} times,"
        f" left/top {len(odd['before'])} times{refusal}"
    )


@TOPIC.claim(
    48,
    "Without padding the output size is floor((size - kernel) / stride) + 1.",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would="The formula gives the size of every convolution and pooling over a grid of sizes,"
    " kernels and strides.",
    asks=(VALID_SIZES,),
)
def size_without_padding(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the formula gives every size."""
    answers = evidence[VALID_SIZES]
    missed = {library: _missed_sizes(figures) for library, figures in answers.items()}
    counts = {library: str(len(sizes)) for library, sizes in missed.items()}
    cases = len(next(iter(answers.values())))
    seen = (
        f"{cases} cases of size, kernel and stride, by convolution, max and average pool;"
        f" the formula misses: {joined(by_answer(counts, str))}"
    )
    for sizes in missed.values():
        if sizes:
            return Ruling(
                "does_not_hold",
                f"{seen}; first: {sizes[0]}",
                "Print the sizes of your own layers before you flatten them.",
            )
    return Ruling("holds", seen, "Compute sizes without padding alike in all frameworks.")


def _missed_sizes(figures: Figures) -> list[str]:
    """The windows of which a size is not the formula's, with all sizes."""
    missed = []
    for name, sizes in figures.items():
        if set(sizes) != {valid_size(WINDOWS[name])}:
            missed.append(f"{name}: {short(sizes)}")
    return missed
