"""Claims about shapes and borders: transposing, padding, output sizes (rows 44 to 48)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.operators.inputs import WINDOWS
from explorer.topics.operators.questions import (
    AXES,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    MAX_POOL,
    PADDING_BY_HAND,
    STRIDED_CONVOLUTION,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import odd_sides, valid_size
from explorer.topics.operators.wording import short
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style

OddSides = dict[str, dict[str, list[str]]]
"""By library, the settings with the odd zero before an axis, after it, and refused."""


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
    order = "ops.transpose(x, (3, 2, 1, 0))"
    seen: tuple[Observation, ...] = (
        Observation(order, _shape(transposed), ("mindspore",), transposed == permuted),
        Observation(order, _shape(in_keras), ("keras",)),
        Observation(
            "x.permute(3, 2, 1, 0)",
            _shape(permuted),
            ("torch",),
            permuted.get("shape") == expects["permuted"],
        ),
        Observation(
            "torch.transpose(x, 0, 3)",
            _shape(swapped),
            ("torch",),
            swapped.get("shape") == expects["swapped"],
        ),
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
            (
                *seen,
                Observation(
                    "transposes that swap two axes", ", ".join(swaps), ("mindspore",), False
                ),
            ),
            "ops.transpose takes the whole order, as permute does;"
            " where both name two axes, MindSpore now swaps them as PyTorch.",
        )
    return Ruling(
        "holds", seen, "Write ops.transpose for permute, and swapaxes for PyTorch's transpose."
    )


def _shape(figure: Any) -> str:
    return said(figure) if raised(figure) else f"shape {short(figure['shape'])}"


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
    # PyTorch has no such padding, of which the statement says nothing.
    as_stated = {
        party: figure == expects["pooled"]
        for party, figure in pooled.items()
        if not party.startswith("torch")
    }
    seen = tuple(observed('max pooling, "same"', pooled, short, as_stated))
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
            seen,
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
            (*seen, Observation("settings that give the same", ", ".join(others), ("torch-tape",))),
            f'PyTorch\'s pooling has no "same": for these figures use {" or ".join(others)}.',
        )
    return Ruling("holds", seen, 'Use pad_mode="same" where TensorFlow has padding="same".')


@TOPIC.claim(
    46,
    "Padding the top and left by hand and then pooling without padding gives [[0, 2], [6, 8]].",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would="The printed lines give these figures, and so does every framework for the padded image.",
    asks=(PADDING_BY_HAND, MAX_POOL),
    expects={"pooled": [[0, 2], [6, 8]]},
)
def padding_by_hand(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the printed lines give the guide's figures in both styles, and everybody does."""
    printed, meant = {}, {}
    for style, figures in evidence[PADDING_BY_HAND].items():
        printed[style], meant[style] = figures["as printed"], figures["as meant"]
    pooled: dict[str, Any] = {}
    for party, figures in evidence[MAX_POOL].items():
        pooled[party] = figures["zeros top and left, then valid"]
    expected = expects["pooled"]
    seen = (
        *_pooled_seen("the printed lines", printed, expected),
        *_pooled_seen("the lines as meant", meant, expected),
        *_pooled_seen("zeros at the top and left, then no padding", pooled, expected),
    )
    verdict = by_style({style: figure == expected for style, figure in printed.items()})
    if verdict == "depends_on_style":
        return Ruling(verdict, seen, "Check the padded image in the style that differs.")
    if verdict == "does_not_hold":
        return Ruling(verdict, seen, _in_place_of_the_print(printed, meant, expected))
    if any(figure != expected for figure in pooled.values()):
        return Ruling(
            "does_not_hold",
            seen,
            "Print the padded image: the zeros are not where the guide has them.",
        )
    return Ruling(
        "holds", seen, "Pad by hand where the side matters: every framework then gives the same."
    )


def _pooled_seen(what: str, figures: Mapping[str, Any], expected: Any) -> list[Observation]:
    as_stated = {party: figure == expected for party, figure in figures.items()}
    return observed(what, figures, short, as_stated)


def _in_place_of_the_print(printed: Figures, meant: Figures, expected: Any) -> str:
    """What to do where the printed lines do not give the figures."""
    if any(figure != expected for figure in meant.values()):
        return "Print the padded image, and pool it in steps."
    if all(map(raised, printed.values())):
        return 'Write pad_mode="valid": the printed name is refused.'
    return 'Write pad_mode="valid": the printed name is not taken for it.'


@TOPIC.claim(
    47,
    "When the zeros to add are odd in number, PyTorch adds the extra one left and top,"
    " MindSpore right and bottom.",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would="Convolutions have their odd zero after the axis in MindSpore with"
    ' "same", and before it in PyTorch with "same" and with a number.',
    asks=(CONVOLUTION_SIDES, CONVOLUTION_SIDES_OF_A_NUMBER, STRIDED_CONVOLUTION),
)
def sides_of_the_odd_zero(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the odd zero is after the axis in MindSpore's "same", and before it in PyTorch.

    With changes where that is so of PyTorch's padding by a number alone, outdated where its "same"
    takes every stride and has the zero after the axis too.
    """
    same = _odd_sides(evidence[CONVOLUTION_SIDES])
    numbers = _odd_sides(evidence[CONVOLUTION_SIDES_OF_A_NUMBER])
    strided = evidence[STRIDED_CONVOLUTION]
    seen = tuple(_odd_zeros_seen(same, numbers, strided))

    mindspore, torch = same["mindspore"], same["torch"]
    if not mindspore["after"] or mindspore["before"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Pad by hand: MindSpore does not put the odd zero at the right and bottom.",
        )
    if torch["before"] and torch["after"]:
        return Ruling("does_not_hold", seen, "Pad by hand: PyTorch's side depends on the size.")
    number_before = bool(numbers["torch"]["before"]) and not numbers["torch"]["after"]
    if torch["after"] and not torch["refused"]:
        return Ruling("outdated", seen, 'Use "same" in both: the odd zero is on one side.')
    if not number_before:
        return Ruling("does_not_hold", seen, "Give both frameworks the padding as numbers.")
    advice = _advice_on_a_number(strided)
    return Ruling("holds_with_changes" if torch["after"] else "holds", seen, advice)


def _odd_zeros_seen(
    same: OddSides, numbers: OddSides, strided: dict[str, Figures]
) -> Iterator[Observation]:
    """Where each library puts odd zeros, and what one strided convolution gives by each setting."""
    for what, sides, said_of in (
        ('odd zero with "same"', same, {"mindspore": "after", "torch": "before"}),
        ("odd zero with padding=1", numbers, {"torch": "before"}),
    ):
        as_stated: dict[str, bool] = {}
        for library, side in said_of.items():
            other = "before" if side == "after" else "after"
            as_stated[library] = bool(sides[library][side]) and not sides[library][other]
        yield from observed(what, sides, _counted, as_stated)
    for library, figures in strided.items():
        for way, figure in figures.items():
            yield Observation(f"kernel 3, stride 2, {way}", _brief(figure), (library,))


def _advice_on_a_number(strided: dict[str, Figures]) -> str:
    """How PyTorch's padding by a number is carried over, as far as one convolution tells."""
    by_number = strided["torch"]["padding=1"]
    mindspore = strided["mindspore"]
    if mindspore["padding=1"] != by_number:
        return "Pad by hand, and convolve without padding: no setting of MindSpore is padding=n."
    wrong = [way for way, figure in mindspore.items() if figure != by_number]
    if not wrong:
        return 'Carry padding=n over as pad_mode="pad", padding=n.'
    return (
        'Carry padding=n over as pad_mode="pad", padding=n, and never as "same":'
        f" MindSpore gives other values {' and '.join(wrong)}."
    )


def _brief(figure: Any) -> str:
    return said(figure) if raised(figure) else short(figure)


def _odd_sides(answers: dict[str, Figures]) -> OddSides:
    return {library: odd_sides(figures) for library, figures in answers.items()}


def _counted(odd: dict[str, list[str]]) -> str:
    refusal = f", {len(odd['refused'])} settings refused" if odd["refused"] else ""
    after, before = len(odd["after"]), len(odd["before"])
    return f"right/bottom {after} times, left/top {before} times{refusal}"


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
    counts = {library: len(sizes) for library, sizes in missed.items()}
    cases = len(next(iter(answers.values())))
    seen = tuple(
        observed(
            f"sizes that the formula misses, of {cases} cases of convolution, max and average pool",
            counts,
            str,
            {library: not count for library, count in counts.items()},
        )
    )
    for sizes in missed.values():
        if sizes:
            return Ruling(
                "does_not_hold",
                (*seen, Observation("first missed size", sizes[0])),
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
