"""What the comparison of two trainings found, in sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.model.training_comparison import (
    Question,
    Reason,
    Rule,
    Status,
    TrainingComparison,
    TrainingDifference,
    Unlike,
)
from explorer.numeric.summaries import FEW
from explorer.text.language import _, later, named
from explorer.words.readings import listed
from explorer.words.traces import one_start

QUESTIONS: dict[Question, str] = {
    "data": later("data"),
    "start": later("start"),
    "trained": later("trained parameters"),
    "loss": later("loss"),
    "gradients": later("gradients"),
    "skipped": later("skipped updates"),
    "given": later("unscaling and clipping"),
    "update": later("update from the same gradient"),
    "state": later("optimizer state"),
    "weights": later("weights"),
    "buffers": later("buffers"),
    "averages": later("averages of the weights"),
}
"""What each question is about."""

STATUSES: dict[Status, str] = {
    "same": later("same"),
    "in_part": later("same as far as both sides have recorded them: not all of them are"),
    "different": later("differs"),
    "not_recorded": later("not recorded"),
    "no_noise": later("not judged: no run with a jittered start says how far rounding moves it"),
    "not_reached": later("not compared, since an earlier difference was found"),
    "no_rule": later("not judged: no known rule gives the updates"),
}
"""How a question was answered."""

REASONS: dict[Reason, str] = {
    "values": later("the values differ"),
    "rows_in_another_order": later(
        "the same rows in another order: the data are shuffled otherwise"
    ),
    "of_another_step": later("{left} is called with the data that {right} has in step {number}"),
    "stretched": later(
        "the data of {left} are those of {right} times {number}, plus {second}: normalised otherwise"
    ),
    "other_size": later("{left} has {number} rows, {right} has {second}"),
    "reset": later("{side} resets a state that {other} carries on from the step before"),
    "missing": later("{side} does not have them"),
    "frozen": later("{side} does not train them"),
    "random": later("the random generators are in other states"),
    "factor": later("those of {left} are {number} times those of {right}"),
    "passes_weighted": later(
        "{left} weights its passes {left_rule}, {right} weights them {right_rule}"
        " (rows of the passes: {numbers})"
    ),
    "kept": later(
        "those of {side} are those of its last step plus those of this one: zero_grad() is missing"
    ),
    "decayed": later("{side} has the weights times {number} in them: weight decay, or a penalty"),
    "not_unscaled": later("{side} gives them to the optimizer still multiplied by the scale"),
    "clipping": later("{left}: {left_rule}; {right}: {right_rule}"),
    "limit": later("{left}: {left_rule}; {right}: {right_rule}"),
    "rule": later("{left}: {left_rule}; {right}: {right_rule}"),
    "unknown_rule": later(
        "no known rule gives the update of {side}; that of {other} is {known_rule}"
    ),
    "overflow_not_skipped": later(
        "gradients are not finite; {other} leaves the update out, {side} makes it"
    ),
    "momentum": later(
        "a new value counts for {left_rule} in {left}, and for {right_rule} in {right}"
    ),
    "variance": later(
        "{side} keeps the unbiased variance, of {number} values, and {other} the biased one"
    ),
    "decay": later(
        "the old average counts for {left_rule} in {left}, and for {right_rule} in {right}"
    ),
}
"""Why a quantity differs."""

TURNED = later("the momentum is read the other way round")

CLIPPING: dict[str, str] = {
    "none": later("not clipped"),
    "not_unscaled": later("not unscaled"),
    "norm": later("clipped to a total norm of {limit}"),
    "norm_before_unscale": later("clipped to a total norm of {limit} before they were unscaled"),
    "norm_each": later("each tensor clipped to a norm of {limit}"),
    "value": later("each element clipped to {limit}"),
}
"""What is done to gradients before the update."""

PASSES: dict[str, str] = {
    "rows": later("by their rows"),
    "plain": later("alike"),
    "sum": later("with 1"),
    "last": later("with 0 but for the last one"),
}
"""How gradients of passes are weighted."""

CONVENTIONS: dict[tuple[str, Any], str] = {
    ("bias_correction", True): later("with bias correction"),
    ("bias_correction", False): later("without bias correction"),
    ("decay", "coupled"): later("with weight decay in the gradient"),
    ("decay", "decoupled"): later("with decoupled weight decay"),
    ("decay", "direct"): later("with decoupled weight decay that is not multiplied by the rate"),
    ("eps_place", "outside"): later("with eps added to the root"),
    ("eps_place", "uncorrected"): later("with eps added to the root that is not bias-corrected"),
    ("eps_place", "inside"): later("with eps inside the root"),
    ("eps_place", "mixed"): later(
        "with eps added to the root in some elements, and inside it in others"
    ),
    ("eps_place", "nowhere"): later("without eps"),
    ("first_buffer", "gradient"): later("with the first gradient as the first momentum buffer"),
    ("first_buffer", "damped"): later("with the first momentum buffer dampened"),
    ("first_square", "zero"): later("with mean squares that begin at 0"),
    ("first_square", "one"): later("with mean squares that begin at 1"),
    ("lr_in_buffer", True): later("with the rate in the momentum buffer"),
    ("lr_in_buffer", False): later("with the rate outside of the momentum buffer"),
    ("nesterov", True): later("with Nesterov momentum"),
    ("nesterov", False): later("without Nesterov momentum"),
    ("amsgrad", True): later("with AMSGrad"),
    ("amsgrad", False): later("without AMSGrad"),
    ("centered", True): later("with the variance of gradients"),
    ("centered", False): later("with the mean square of gradients"),
}
"""What a rule does, by the setting or convention."""

TRAINING = ".training"
"""How the files of trainings end, whose names are those of the trainings."""

MOST_NAMES = 6
"""The greatest number of tensors that are named."""

LATE = {
    (True, True): later("the rate of {right} comes 1 step late"),
    (True, False): later("the rate of {right} comes {n} steps late"),
    (False, True): later("the rate of {right} comes 1 step early"),
    (False, False): later("the rate of {right} comes {n} steps early"),
}
"""That a rate is that of another step: whether it comes late, and by one step alone."""


def headline(comparison: TrainingComparison) -> str:
    """Where two trainings first differ, and in what; or that they do not."""
    difference = comparison.difference
    if difference is None:
        unjudged = [it.question for it in comparison.answers if it.status == "no_noise"]
        if not unjudged:
            return _("no difference in {n} steps beyond rounding").format(n=comparison.steps)
        text = _(
            "no difference in {n} steps as far as judged; not judged without jittered runs: {questions}"
        )
        names = listed(_(QUESTIONS[question]) for question in unjudged)
        return text.format(n=comparison.steps, questions=names)
    return _first(difference, comparison)


def _first(difference: TrainingDifference, comparison: TrainingComparison) -> str:
    text = _("first difference in step {step}, {what}: {why}")
    return text.format(
        step=difference.step,
        what=_(QUESTIONS[difference.question]),
        why=why(difference, comparison),
    )


def why(difference: TrainingDifference, comparison: TrainingComparison) -> str:
    """Why a quantity differs, with both sides by their names."""
    left, right = comparison.left, comparison.right
    is_left = difference.side != "right"
    numbers = list(map(shown, difference.numbers))
    first, second, *_rest = [*numbers, "", ""]
    left_rule, right_rule = (
        _ruled(difference, rule, side)
        for rule, side in ((difference.left, "left"), (difference.right, "right"))
    )
    if difference.reason == "factor" and difference.numbers[0] < 1:
        left, right, first = right, left, shown(1 / difference.numbers[0])
    return _(REASONS[difference.reason]).format(
        left=left,
        right=right,
        side=left if is_left else right,
        other=right if is_left else left,
        number=first,
        second=second,
        numbers=named(numbers),
        left_rule=left_rule,
        right_rule=right_rule,
        known_rule=right_rule if is_left else left_rule,
    )


def _ruled(difference: TrainingDifference, rule: Rule | None, side: str) -> str:
    """What one side does, as far as the other side does otherwise."""
    if rule is None:
        return ""
    if difference.question == "given":
        limit = shown(rule.settings.get("limit", 0.0))
        return _(CLIPPING[rule.kind]).format(limit=limit)
    if difference.reason == "passes_weighted":
        return _(PASSES[rule.kind])
    if difference.question in ("buffers", "averages"):
        return shown(next(iter(rule.settings.values()), 0.0))
    if difference.unlike:
        parts = [setting_text(one.name, getattr(one, side)) for one in difference.unlike]
        return _("{rule} {how}").format(rule=rule.kind, how=_(", ").join(parts))
    return rule_text(rule)


def setting_text(name: str, value: Any) -> str:
    """A setting or a convention of a rule."""
    text = CONVENTIONS.get((name, value)) if isinstance(value, (bool, str)) else None
    return _(text) if text else _("with {name}={value}").format(name=name, value=shown(value))


def rule_text(rule: Rule) -> str:
    """A rule with its settings."""
    plain = {
        key: value
        for key, value in rule.settings.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value
    }
    settings = ", ".join(f"{key}={shown(value)}" for key, value in plain.items())
    return f"{rule.kind}({settings})"


def shown(value: Any) -> str:
    """A setting as text; a number with so many digits as settings have."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def details(comparison: TrainingComparison) -> Iterator[str]:
    """What else is known of the first difference: where, how far, and what it means."""
    difference = comparison.difference
    if difference is not None:
        yield from _details(difference, comparison)
    if comparison.beside is not None:
        yield _("without them: {headline}").format(headline=_first(comparison.beside, comparison))
        yield from _details(comparison.beside, comparison)
    if comparison.names:
        yield _called_otherwise(comparison)
    yield from _losses(comparison)
    yield from _compared_in_part(comparison)


def _compared_in_part(comparison: TrainingComparison) -> Iterator[str]:
    """Of which steps no more than a part is recorded."""
    if comparison.few:
        text = _(
            "steps {ranges} were compared by {n} elements of each tensor and by norms: a long record has no"
            " more of them, or of the steps before"
        )
        yield text.format(ranges=few(ranges(comparison.few)), n=FEW)
    if comparison.losses_alone:
        text = _("of steps {ranges} the losses alone were compared, since nothing else is recorded")
        yield text.format(ranges=few(ranges(comparison.losses_alone)))


def ranges(numbers: Sequence[int]) -> list[str]:
    """Ascending numbers as ranges: "3", "7–9"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(first) if first == last else f"{first}–{last}" for first, last in found]


def _details(difference: TrainingDifference, comparison: TrainingComparison) -> Iterator[str]:
    if difference.names:
        yield _where(difference)
    if difference.apart is not None:
        yield _how_far(difference)
    for one in difference.unlike:
        if one.steps:
            yield _late(one, comparison)
        if one.only:
            yield _again(one, comparison)
    if is_turned(difference):
        yield _(TURNED)
    if difference.question == "start" and difference.reason == "values":
        files = [f"{name}{TRAINING}" for name in (comparison.left, comparison.right)]
        yield from one_start(files, comparison.frameworks)
    if difference.has_graph:
        yield _("both files have the graph of this step")


def _called_otherwise(comparison: TrainingComparison) -> str:
    pairs = [f"{own} ↔ {name}" for own, name in comparison.names.items()]
    text = _(
        "{n} tensors have other names in {right}, and are paired by values, names and order: {pairs}"
    )
    return text.format(n=len(pairs), right=comparison.right, pairs=few(pairs))


def _losses(comparison: TrainingComparison) -> Iterator[str]:
    """How far the losses lie apart at most, whatever was judged."""
    losses = comparison.losses
    apart = [
        (abs(one - other), step)
        for step, one, other in zip(losses.steps, losses.left, losses.right, strict=True)
        if one is not None and other is not None and math.isfinite(one - other) and one != other
    ]
    if apart:
        far, step = max(apart)
        yield _("losses lie at most {far} apart, in step {n}").format(far=f"{far:.3g}", n=step)


def is_turned(difference: TrainingDifference) -> bool:
    """Whether the momentum of running statistics is read the other way round."""
    sides = difference.left, difference.right
    if difference.reason != "momentum" or None in sides:
        return False
    one, other = (rule.settings["momentum"] for rule in sides if rule)
    return bool(abs(one + other - 1) < 1e-9 and one != other)


def _late(unlike: Unlike, comparison: TrainingComparison) -> str:
    steps = abs(unlike.steps)
    text = _(LATE[unlike.steps > 0, steps == 1])
    return text.format(right=comparison.right, n=steps)


def _again(unlike: Unlike, comparison: TrainingComparison) -> str:
    """In which steps alone rates differ."""
    first, last = unlike.only or (0, 0)
    (steps,) = ranges(range(first, last + 1))
    text = _("the rates differ in steps {steps} alone, and are the same again behind them")
    if unlike.warm:
        text = _("{side} warms up: the rates are the same from step {next} on")
    side = comparison.left if unlike.warm == "left" else comparison.right
    return text.format(steps=steps, side=side, next=last + 1)


def _where(difference: TrainingDifference) -> str:
    names, of = difference.names, difference.of
    if of and len(names) == of:
        return _("in all {n}: {names}").format(n=of, names=few(names))
    if of:
        return _("in {n} of {of}: {names}").format(n=len(names), of=of, names=few(names))
    return _("in {names}").format(names=few(names))


def _how_far(difference: TrainingDifference) -> str:
    far = f"{difference.apart:.3g}"
    if difference.times is None:
        return _("greatest difference {far}").format(far=far)
    text = _("greatest difference {far}; {times} times the noise")
    return text.format(far=far, times=f"{difference.times:.3g}")


def few(names: Sequence[str]) -> str:
    """The first of many names."""
    if len(names) <= MOST_NAMES:
        return named(names)
    return _("{names}, …").format(names=named(names[:MOST_NAMES]))


def answers(comparison: TrainingComparison) -> Mapping[str, str]:
    """How each question was answered, by what it is about."""
    return {
        _(QUESTIONS[answer.question]): _(STATUSES[answer.status]) for answer in comparison.answers
    }
