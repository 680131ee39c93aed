"""Claims about operators: shapes and borders (rows 44 to 48), equal settings (40, 51), Ascend (77)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.topics.attempts import raised
from explorer.topics.cells import clauses, yes_or_no
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.observations import by_style, observed
from explorer.topics.operators.findings_defaults import (
    REFERENCE,
    Agreement,
    by_operator,
    compared,
    first_call_difference,
)
from explorer.topics.operators.inputs import NEGATIVE, WINDOWS
from explorer.topics.operators.questions import (
    ASCEND_OPERATORS,
    AXES,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    DROPOUT_MASK,
    INFERENCE,
    MAX_POOL,
    OPERATOR_GRADIENTS,
    PADDING_BY_HAND,
    STRIDED_CONVOLUTION,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import (
    ROUNDING,
    DropoutMask,
    OddSides,
    Transposed,
    odd_sides,
    reproducible,
    valid_size,
)
from explorer.topics.operators.wording import label, result, short, way_text, window_text
from explorer.topics.question import MINDSPORE_STYLES


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
    calls = evidence.records(AXES, dict[str, Transposed])
    transposed = calls["mindspore"]["ops.transpose(x, (3, 2, 1, 0))"]
    permuted = calls["torch"]["x.permute(3, 2, 1, 0)"]
    swapped = calls["torch"]["torch.transpose(x, 0, 3)"]
    in_keras = calls["keras"]["ops.transpose(x, (3, 2, 1, 0))"]
    is_permuted = permuted.shape == expects["permuted"]
    is_swapped = swapped.shape == expects["swapped"]
    alike = transposed == permuted
    order = "ops.transpose(x, (3, 2, 1, 0))"
    seen = (
        Observation(order, _shape(transposed), ("mindspore",), alike),
        Observation(order, _shape(in_keras), ("keras",)),
        Observation("x.permute(3, 2, 1, 0)", _shape(permuted), ("torch",), is_permuted),
        Observation("torch.transpose(x, 0, 3)", _shape(swapped), ("torch",), is_swapped),
    )
    if not (alike and is_permuted and is_swapped):
        return Ruling("does_not_hold", seen)
    swaps = []
    for call, figure in calls["mindspore"].items():
        if "transpose" in call and figure == swapped:
            swaps.append(call)
    if not swaps:
        return Ruling("holds", seen)
    what = message("operators.swapping")
    swapping = Observation(what, ", ".join(swaps), ("mindspore",), expected=False)
    return Ruling("holds_with_changes", (*seen, swapping))


def _shape(transposed: Transposed) -> Text:
    if transposed.raised:
        return transposed.error
    return message("operators.of_shape", shape=short(transposed.shape))


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
    pooled: dict[str, Any] = {}
    as_stated: dict[str, bool] = {}
    for party, figures in answers.items():
        pooled[party] = figures["same"]
        # PyTorch has no such padding, of which the statement says nothing.
        if not party.startswith("torch"):
            as_stated[party] = figures["same"] == expects["pooled"]
    seen = tuple(observed(message("operators.pool_same"), pooled, short, as_stated))
    as_said = by_style(as_stated)
    if as_said != "holds":
        return Ruling(as_said, seen)
    if pooled["keras"] != expects["pooled"]:
        return Ruling("holds_with_changes", seen)
    # PyTorch's pooling refuses "same" (2.13.0); another setting may give the same figures.
    others = []
    torch = answers["torch-tape"]
    of_negative = answers["mindspore-tape"][NEGATIVE + "same"]
    for way, figure in torch.items():
        if way.startswith(NEGATIVE) or way == "same" or figure != expects["pooled"]:
            continue
        # A zero that is put in by hand is the greatest of negative numbers.
        if torch[NEGATIVE + way] == of_negative:
            others.append(way_text(way))
    if not raised(pooled["torch-tape"]) or not others:
        return Ruling("holds", seen)
    ways = message("operators.listed", texts=tuple(others))
    alike = Observation(message("operators.settings_alike"), ways, ("torch-tape",))
    return Ruling("holds", (*seen, alike), message("operators.without_same", ways=tuple(others)))


@TOPIC.claim(
    87,
    'Zeros put in by ops.Pad, and then pooling with pad_mode="valid", pool as PyTorch does with its'
    " padding.",
    heading="operators",
    guides=("000",),
    sections={"000": "Conv and Pooling"},
    would="For numbers from 0 on and for negative ones, both give the same.",
    asks=(MAX_POOL.by(*MINDSPORE_STYLES, "torch-tape"),),
)
def zeros_pool_as_padding(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when zeros by hand give in both styles what PyTorch's padding gives, of all numbers.

    It does not hold when they do so of numbers from 0 on alone.
    """
    answers = evidence[MAX_POOL.by(*MINDSPORE_STYLES, "torch-tape")]
    by_hand, by_setting = "zeros all around, then valid", "padding=1"
    right = dict.fromkeys(MINDSPORE_STYLES, True)
    seen: list[Observation] = []
    is_padded_by_setting = True
    for begins, what in (("", "pooled_positive"), (NEGATIVE, "pooled_negative")):
        torch = answers["torch-tape"][begins + by_setting]
        label = message(f"operators.{what}", way=by_setting)
        set_so: dict[str, Any] = {party: answers[party][begins + by_setting] for party in answers}
        seen.extend(observed(label, set_so, short))
        is_padded_by_setting &= all(pooled == torch for pooled in set_so.values())
        label = message(f"operators.{what}", way=way_text(by_hand))
        zeros = {style: answers[style][begins + by_hand] for style in MINDSPORE_STYLES}
        as_stated = _are(zeros, torch)
        seen.extend(observed(label, zeros, short, as_stated))
        for style, is_so in as_stated.items():
            right[style] &= is_so
    verdict = by_style(right)
    is_advised = verdict != "holds" and is_padded_by_setting
    return Ruling(verdict, tuple(seen), "zeros win" if is_advised else "")


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
    by_print = _are(printed, expected)
    as_meant = _are(meant, expected)
    by_hand = _are(pooled, expected)
    seen = (
        *observed(message("operators.printed_lines"), printed, short, by_print),
        *observed(message("operators.lines_as_meant"), meant, short, as_meant),
        *observed(message("operators.zeros_then_pool"), pooled, short, by_hand),
    )
    verdict = by_style(by_print)
    if verdict == "holds" and not all(by_hand.values()):
        return Ruling("does_not_hold", seen)
    is_refused = all(map(raised, printed.values()))
    if is_refused and all(as_meant.values()):
        return Ruling(verdict, seen, "refused")
    return Ruling(verdict, seen)


def _are(figures: Mapping[str, Any], expected: Any) -> dict[str, bool]:
    """Whether figures are the expected ones, by party."""
    return {party: figure == expected for party, figure in figures.items()}


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

    torch = same["torch"]
    if not same["mindspore"].lie_after or (torch.before and torch.after):
        return Ruling("does_not_hold", seen)
    if torch.after and not torch.refused:
        return Ruling("outdated", seen)
    if not numbers["torch"].lie_before:
        return Ruling("does_not_hold", seen)
    verdict: ClaimVerdict = "holds_with_changes" if torch.after else "holds"
    return Ruling(verdict, seen, _advice_on_a_number(strided))


def _odd_zeros_seen(
    same: Mapping[str, OddSides], numbers: Mapping[str, OddSides], strided: dict[str, Figures]
) -> Iterator[Observation]:
    """Where each library puts odd zeros, and what one strided convolution gives by each setting."""
    as_stated = {"mindspore": same["mindspore"].lie_after, "torch": same["torch"].lie_before}
    yield from observed(message("operators.odd_zero_of_same"), same, _counted, as_stated)
    as_stated = {"torch": numbers["torch"].lie_before}
    yield from observed(message("operators.odd_zero_of_a_number"), numbers, _counted, as_stated)
    for library, figures in strided.items():
        for way, figure in figures.items():
            what = message("operators.strided", way=way_text(way))
            yield Observation(what, result(figure), (library,))


def _advice_on_a_number(strided: dict[str, Figures]) -> Text:
    """How PyTorch's padding by a number is carried over, as far as one convolution tells."""
    by_number = strided["torch"]["padding=1"]
    mindspore = strided["mindspore"]
    wrong = []
    for way, figure in mindspore.items():
        if figure != by_number:
            wrong.append(way_text(way))
    if not wrong or mindspore["padding=1"] != by_number:
        return ""
    return message("operators.never_same", ways=tuple(wrong))


def _odd_sides(answers: dict[str, Figures]) -> dict[str, OddSides]:
    return {library: odd_sides(figures) for library, figures in answers.items()}


def _counted(odd: OddSides) -> Message:
    return message(
        "operators.sides_refused" if odd.refused else "operators.sides",
        after=len(odd.after),
        before=len(odd.before),
        refused=len(odd.refused),
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
    counts: dict[str, int] = {}
    as_stated: dict[str, bool] = {}
    missed: list[Message] = []
    for library, figures in answers.items():
        sizes = _missed_sizes(figures)
        counts[library] = len(sizes)
        as_stated[library] = not sizes
        missed.extend(sizes)
    cases = len(next(iter(answers.values())))
    what = message("operators.missed_sizes", cases=cases)
    seen = tuple(observed(what, counts, str, as_stated))
    if not missed:
        return Ruling("holds", seen)
    first = Observation(message("operators.first_missed"), missed[0])
    return Ruling("does_not_hold", (*seen, first))


def _missed_sizes(figures: Figures) -> list[Message]:
    """The windows of which a size is not the formula's, with all sizes."""
    missed = []
    for name, sizes in figures.items():
        if set(sizes) != {valid_size(WINDOWS[name])}:
            window = window_text(name)
            missed.append(message("operators.sizes_of", window=window, sizes=short(sizes)))
    return missed


# Equal settings


@TOPIC.claim(
    40,
    "Inference is deterministic and can be compared across the frameworks before training can.",
    heading="networks",
    guides=("001",),
    sections={"001": "Constructing Network"},
    would="With the same weights every call at inference gives the same outputs, in both"
    " frameworks; in training mode not.",
    asks=(INFERENCE,),
    expects={"calls": 3},
)
def inference_is_deterministic(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when outputs repeat and agree at inference.

    It holds with changes where those of training do too.
    """
    answers = evidence[INFERENCE]
    inference = _greatest_difference(answers, "inference")
    training = _greatest_difference(answers, "training")
    repeats = {engine: reproducible(each["inference"]) for engine, each in answers.items()}
    # Dropout draws new masks at every call, so that outputs in training should differ.
    outputs_in_training = [figures["training"] for figures in answers.values()]
    training_repeats = all(map(reproducible, outputs_in_training))
    training_agrees = training_repeats and training <= ROUNDING
    outputs = message("operators.outputs_of_calls", calls=expects["calls"])
    seen = (
        *observed(outputs, repeats, _equal_or_not, repeats),
        _distance_seen("in_inference", inference, inference <= ROUNDING),
        _distance_seen("in_training", training, not training_agrees),
    )
    if not all(repeats.values()) or inference > ROUNDING:
        return Ruling("does_not_hold", seen)
    if training_agrees:
        return Ruling("holds_with_changes", seen)
    return Ruling("holds", seen)


def _equal_or_not(is_equal: bool) -> Message:
    return message("operators.equal" if is_equal else "operators.not_equal")


def _distance_seen(name: str, difference: float, as_stated: bool) -> Observation:
    what = message(f"operators.greatest_{name}", reference=label(REFERENCE))
    return Observation(what, f"{difference:.1e}", expected=as_stated)


def _greatest_difference(answers: dict[str, Figures], mode: str) -> float:
    """Of the outputs of all engines from the reference's, at the first call in a mode."""
    reference = answers[REFERENCE]
    return max(first_call_difference(figures, reference, mode) for figures in answers.values())


@TOPIC.claim(
    51,
    "Gradients through each of these operators agree when all settings are made equal.",
    heading="operators",
    guides=("ours",),
    would="First and second derivatives of every operator agree but for rounding, wherever they are"
    " defined.",
    asks=(OPERATOR_GRADIENTS, DROPOUT_MASK),
)
def gradients_agree(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when all first derivatives are defined and agree, and so do the second ones.

    Second derivatives count where they are defined. It depends on the style when one style of
    MindSpore alone does otherwise.
    """
    first = compared(evidence[OPERATOR_GRADIENTS], "first")
    second = compared(evidence[OPERATOR_GRADIENTS], "second")
    # Masks are random, so dropout is compared with itself: for ones, output and gradient are both
    # the mask times 1 / (1 - p).
    is_mask: dict[str, bool] = {}
    for engine, mask in evidence.records(DROPOUT_MASK, DropoutMask).items():
        is_mask[engine] = mask.is_the_same
    seen = tuple(_gradients_seen(first, second, is_mask))
    failing = {engine for engine, is_same in is_mask.items() if not is_same}
    for engine, _ in (*first.differing, *second.differing, *first.undefined):
        failing.add(engine)
    if len(failing) == 1 and failing <= set(MINDSPORE_STYLES):
        return Ruling("depends_on_style", seen)
    if failing:
        return Ruling("does_not_hold", seen)
    return Ruling("holds", seen, "second order" if second.undefined else "")


def _gradients_seen(
    first: Agreement, second: Agreement, is_mask: dict[str, bool]
) -> Iterator[Observation]:
    """How many derivatives agree with the reference's, and of which operators they do not."""
    for name, agreement in (("first", first), ("second", second)):
        order = message(f"operators.{name}")
        what = message("operators.derivatives_agree", order=order, reference=label(REFERENCE))
        share = message("operators.count", count=len(agreement.agreeing), of=agreement.total)
        yield Observation(what, share, expected=not agreement.differing)
        if agreement.differing:
            what = message("operators.derivatives_differ", order=order)
            texts = by_operator(agreement.differing)
            yield Observation(what, clauses(texts), expected=False)
        if agreement.undefined:
            # Where it is not defined a second derivative cannot differ.
            as_stated = None if name == "second" else False
            what = message("operators.derivatives_undefined", order=order)
            texts = by_operator(agreement.undefined)
            yield Observation(what, clauses(texts), (), as_stated)
    yield from observed(message("operators.mask_is_gradient"), is_mask, yes_or_no, is_mask)


# Ascend


@TOPIC.claim(
    77,
    "On Ascend Conv, Sort and TopK take float16 alone, and strides of Conv and pooling are limited.",
    heading="operators",
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would="On an Ascend NPU the three operators refuse float32, and a great stride is refused.",
    asks=(ASCEND_OPERATORS,),
)
def ascend_limits(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when Ascend refuses float32 to all three and a stride; with changes when a part of it.

    It is outdated when Ascend takes all of it, and can be checked on an Ascend NPU alone.
    """
    figures = evidence[ASCEND_OPERATORS]["mindspore"]
    target, dtypes, strides = figures["target"], figures["dtypes"], figures["strides"]
    seen = (
        Observation(message("operators.device"), target, ("mindspore",)),
        *_grouped("dtypes", dtypes),
        *_grouped("strides", strides),
    )
    if target != "Ascend":
        return Ruling("not_checkable_here", seen)
    in_float32 = []
    for name, figure in dtypes.items():
        if name.endswith("float32"):
            in_float32.append(raised(figure))
    is_limited = any(map(raised, strides.values()))
    if not any(in_float32) and not is_limited:
        return Ruling("outdated", seen)
    if all(in_float32) and is_limited:
        return Ruling("holds", seen)
    return Ruling("holds_with_changes", seen)


def _grouped(name: str, figures: Mapping[str, Any]) -> Iterator[Observation]:
    """What operators gave or raised; those that did the same are one row."""
    texts = {operator: _given(figure) for operator, figure in figures.items()}
    for operators, text in grouped(texts):
        what = message(f"operators.ascend_{name}", operators=tuple(operators))
        yield Observation(what, text, ("mindspore",))


def _given(figure: Any) -> Text:
    return short(figure) if raised(figure) else str(figure)
