"""Claims about layers: dropout, batch norm, initial values (rows 41 to 43, 49, 50, 71 and 72)."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.topics.cells import NONE, clauses, yes_or_no
from explorer.topics.evidence import Evidence, flat_numbers, spaced
from explorer.topics.observations import observed
from explorer.topics.operators.inputs import MOMENTA, ONES
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    DROPOUT_SETTINGS,
    EVALUATED_BATCH_NORM,
    IMPLICIT_WEIGHTS,
    INITIAL_VALUES,
    TOPIC,
)
from explorer.topics.operators.readings import (
    NORMAL,
    UNIFORM,
    ZEROS,
    BatchNormState,
    Bounds,
    DropoutSettings,
    InitialValues,
    Survival,
    close,
    implied_momentum,
    initial_values,
    statistics_moved,
    statistics_used,
)
from explorer.topics.operators.wording import raises, short, state_text

States = dict[str, BatchNormState]
"""What batch norm gives in each of its states."""

Weights = dict[str, Bounds]
"""Where the weights of each layer start."""


class EvaluatedStep(msgspec.Struct, frozen=True, rename=spaced):
    """Weight and bias before and after a step in one mode, with the output and the running mean."""

    before: Any
    after: Any
    output: Any
    running_mean: Any = None


SAMPLED = 0.02  # six times the standard error of 20,000 draws
"""Shares of 20,000 draws are within this of the probability."""


@TOPIC.claim(
    41,
    "Dropout takes the probability to keep in MindSpore (keep_prob), to drop in PyTorch"
    " (p = 1 - keep_prob).",
    heading="operators",
    guides=("000",),
    sections={"000": "nn.Dropout"},
    would="keep_prob=0.7 in MindSpore keeps the same share as p=0.3 in PyTorch, and MindSpore knows"
    " no p.",
    asks=(DROPOUT_SETTINGS,),
)
def dropout_probability(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when keep_prob is 1 - p and MindSpore has no p.

    It holds with changes where MindSpore has PyTorch's p too; the advice goes by what a bare number
    means today, and by what the documentation announces.
    """
    settings = evidence.records(DROPOUT_SETTINGS, DropoutSettings)
    mindspore, torch = settings["mindspore"], settings["torch"]
    seen = tuple(_shares_seen(settings))
    if mindspore.by_keep_prob.raised:
        return Ruling("outdated", seen)
    if not _keep_one_share(mindspore.by_keep_prob, torch.by_p):
        return Ruling("does_not_hold", seen)
    if mindspore.by_p.raised:
        return Ruling("holds", seen)
    if not _keep_one_share(mindspore.by_p, torch.by_p):
        return Ruling("does_not_hold", seen)
    is_keep_prob = _keeps(mindspore.bare, 0.3)
    if is_keep_prob and mindspore.notice:
        return Ruling("holds_with_changes", seen, "will change")
    if is_keep_prob:
        return Ruling("holds_with_changes", seen, "means keep_prob")
    return Ruling("holds_with_changes", seen, "" if mindspore.bare.raised else "means p")


def _shares_seen(settings: Mapping[str, DropoutSettings]) -> Iterator[Observation]:
    """The share that each setting keeps, and what MindSpore's documentation announces."""
    mindspore, torch = settings["mindspore"], settings["torch"]
    keep_prob = mindspore.by_keep_prob
    is_kept = _keep_one_share(keep_prob, torch.by_p)
    yield Observation(_share_of("keep_prob=0.7"), _share(keep_prob), ("mindspore",), is_kept)
    both = {"mindspore": mindspore.by_p, "torch": torch.by_p}
    # MindSpore is said to know no p.
    as_stated = {"mindspore": bool(mindspore.by_p.raised), "torch": True}
    yield from observed(_share_of("p=0.3"), both, _share, as_stated)
    bare = {"mindspore": mindspore.bare, "torch": torch.bare}
    yield from observed(_share_of("Dropout(0.3)"), bare, _share)
    yield Observation(_share_of("rate=0.3"), _share(settings["keras"].by_rate), ("keras",))
    if mindspore.notice:
        notice = mindspore.notice.rstrip(".")
        yield Observation(message("operators.documentation"), notice, ("mindspore",))


def _share_of(setting: str) -> Message:
    return message("operators.share_kept", ones=ONES, setting=setting)


def _share(survival: Survival) -> str:
    return survival.error if survival.raised else f"{survival.kept:.3f}"


def _keeps(survival: Survival, share: float) -> bool:
    return not survival.raised and abs(survival.kept - share) <= SAMPLED


def _keep_one_share(survival: Survival, other: Survival) -> bool:
    return not other.raised and _keeps(survival, other.kept)


@TOPIC.claim(
    42,
    "BatchNorm2d has four states in PyTorch (training, track_running_stats) and three settings in"
    " MindSpore.",
    heading="operators",
    guides=("000",),
    sections={"000": "nn.BatchNorm2d"},
    would="Each PyTorch state has a setting of use_batch_statistics with the same outputs and"
    " gradients.",
    asks=(BATCH_NORM_STATES,),
    expects={
        "counterparts": (
            ("use_batch_statistics=None, training", "track_running_stats=True, training"),
            ("use_batch_statistics=None, inference", "track_running_stats=True, inference"),
            ("use_batch_statistics=True, training", "track_running_stats=False, training"),
            ("use_batch_statistics=True, inference", "track_running_stats=False, inference"),
            ("use_batch_statistics=False, inference", "track_running_stats=True, inference"),
        )
    },
)
def states_have_counterparts(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when each counterpart has the same outputs and gradients, in graph and in tape."""
    states = evidence.records(BATCH_NORM_STATES, States)
    counterparts = expects["counterparts"]
    graph = _states_apart(states["mindspore-graph"], states["torch-graph"], counterparts)
    tape = _states_apart(states["mindspore-tape"], states["torch-tape"], counterparts)
    moving = _moving_states(states["mindspore-tape"])
    seen = tuple(_states_seen(states, counterparts))
    if graph and tape:
        return Ruling("does_not_hold", seen)
    if graph or tape:
        return Ruling("depends_on_style", seen)
    # use_batch_statistics=True takes no notice of the mode (2.10.0).
    moves_at_inference = any("inference" in name for name in moving)
    return Ruling("holds", seen, "moving" if moves_at_inference else "")


def _states_seen(
    states: Mapping[str, States], counterparts: tuple[tuple[str, str], ...]
) -> Iterator[Observation]:
    """Whether counterparts agree, and which states use or move which statistics."""
    settings = {name.partition(",")[0] for name in states["mindspore-tape"]}
    count = str(len(states["torch-tape"]))
    yield Observation(message("operators.number_of_states"), count, ("torch",))
    count = str(len(settings))
    yield Observation(message("operators.number_of_settings"), count, ("mindspore",))
    for mindspore_name, torch_name in counterparts:
        agrees: dict[str, bool] = {}
        for style in ("graph", "tape"):
            left, right = states[f"mindspore-{style}"], states[f"torch-{style}"]
            agrees[f"mindspore-{style}"] = _same_state(left[mindspore_name], right[torch_name])
        what = message(
            "operators.against", one=state_text(mindspore_name), other=state_text(torch_name)
        )
        yield from observed(what, agrees, _same_or_others, agrees)
    moving = _states(_moving_states(states["mindspore-tape"]))
    yield Observation(message("operators.moving"), moving, ("mindspore-tape",))
    of_the_batch = []
    for name, state in states["keras"].items():
        if statistics_used(state) == "batch":
            of_the_batch.append(name)
    what = message("operators.of_the_batch")
    yield Observation(what, _states(of_the_batch), ("keras",))


def _same_or_others(is_same: bool) -> Message:
    return message("operators.the_same" if is_same else "operators.others")


def _states(names: list[str]) -> Text:
    if not names:
        return NONE
    return clauses(map(state_text, names))


def _states_apart(
    mindspore: States, torch: States, counterparts: tuple[tuple[str, str], ...]
) -> int:
    """How many counterparts have other outputs or gradients."""
    # The running statistics may differ: MindSpore moves them where PyTorch keeps none (2.10.0).
    apart = 0
    for mindspore_name, torch_name in counterparts:
        if not _same_state(mindspore[mindspore_name], torch[torch_name]):
            apart += 1
    return apart


def _same_state(state: BatchNormState, other: BatchNormState) -> bool:
    if state.raised or other.raised:
        return False
    pairs = zip(state.gradients, other.gradients, strict=True)
    same_gradients = all(close(gradient, other_gradient) for gradient, other_gradient in pairs)
    return same_gradients and close(state.output, other.output)


def _moving_states(states: States) -> list[str]:
    """The states in which the running statistics move."""
    moving = []
    for name, state in states.items():
        if not state.raised and statistics_moved(state) == "moved":
            moving.append(name)
    return moving


@TOPIC.claim(
    43,
    "Batch norm's momentum in PyTorch is 1 minus the momentum in MindSpore.",
    heading="operators",
    guides=("000",),
    sections={"000": "nn.BatchNorm2d"},
    would="After one step the running mean is the same for momentum m in MindSpore and 1 - m in"
    " PyTorch.",
    asks=(BATCH_NORM_MOMENTUM,),
)
def momentum_is_turned_round(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when 1 - m gives the same running statistics, and m does not."""
    answers = evidence[BATCH_NORM_MOMENTUM]
    mindspore, torch = answers["mindspore"], answers["torch"]
    weights: dict[str, float] = {}
    for library, figures in answers.items():
        weights[library] = implied_momentum(figures["default"])
    turned_round = _same_statistics(mindspore, torch["one_minus"])
    plain = _same_statistics(mindspore, torch["same"])
    means = {"mindspore": mindspore["0.9"][0], "keras": answers["keras"]["0.9"][0]}
    what = message("operators.mean_after_step", momentum="0.9")
    seen = (
        *observed(what, means, short),
        Observation(
            message("operators.mean_after_step", momentum="0.1"),
            short(torch["one_minus"]["0.9"][0]),
            ("torch",),
            turned_round,
        ),
        Observation(what, short(torch["same"]["0.9"][0]), ("torch",), not plain),
        *observed(message("operators.weight_of_old"), weights, "{:g}".format),
    )
    if plain:
        return Ruling("outdated", seen)
    if not turned_round:
        return Ruling("does_not_hold", seen)
    if weights["mindspore"] == weights["torch"]:
        return Ruling("holds", seen, "same defaults")
    return Ruling("holds", seen, "other defaults")


def _same_statistics(figures: Figures, other: Figures) -> bool:
    """Whether the running statistics are the same after one step, at every momentum."""
    return all(close(figures[str(momentum)], other[str(momentum)]) for momentum in MOMENTA)


@TOPIC.claim(
    49,
    "Conv2d starts weights from N(0, 1) and biases from 0 in MindSpore, both from"
    " U(-sqrt k, sqrt k) in PyTorch.",
    heading="operators",
    guides=("000",),
    sections={"000": "Different Default Weight Initialization"},
    would="Kolmogorov-Smirnov tests rule out all but these distributions, and MindSpore's biases"
    " are 0.",
    asks=(INITIAL_VALUES,),
    expects={"kind": "convolution"},
)
@TOPIC.claim(
    50,
    "Dense starts weights from N(0, 1) and biases from 0; PyTorch's Linear starts both from"
    " U(-sqrt k, sqrt k).",
    heading="operators",
    guides=("000",),
    sections={"000": "Different Default Weight Initialization"},
    would="Kolmogorov-Smirnov tests rule out all but these distributions, and MindSpore's biases"
    " are 0.",
    asks=(INITIAL_VALUES,),
    expects={"kind": "dense"},
)
def initial_distributions(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's weights are normal and its biases 0.

    It holds with changes when only one of the two is so.
    """
    kind = expects["kind"]
    answers = evidence[INITIAL_VALUES]
    seen = tuple(_initial_values_seen(answers, kind))
    mindspore, torch = answers["mindspore"], answers["torch"]
    weights = initial_values(mindspore[f"{kind} weight"]).distributions
    biases = initial_values(mindspore[f"{kind} bias"]).distributions
    has_bias = mindspore["has_bias"][kind]
    neither = Ruling("does_not_hold", seen)
    # What the guides say of PyTorch must hold before anything is said of MindSpore.
    for part in ("weight", "bias"):
        if UNIFORM not in initial_values(torch[f"{kind} {part}"]).distributions:
            return neither
    if NORMAL in weights and biases == [ZEROS]:
        return Ruling("holds", seen)
    if NORMAL in weights or biases == [ZEROS]:
        return Ruling("holds_with_changes", seen)
    if UNIFORM in weights and UNIFORM in biases:
        return Ruling("does_not_hold", seen, "one distribution" if has_bias else "without bias")
    return neither


def _initial_values_seen(answers: dict[str, Figures], kind: str) -> Iterator[Observation]:
    """Where weights and biases start, beside the bound of which the statement speaks."""
    bound = initial_values(answers["torch"][f"{kind} weight"]).bound
    yield Observation(message("operators.bound"), f"{bound:.4f}")
    for part in ("weight", "bias"):
        values: dict[str, InitialValues] = {}
        for library, figures in answers.items():
            values[library] = initial_values(figures[f"{kind} {part}"])
        # The statement says nothing of Keras.
        as_stated = {"torch": UNIFORM in values["torch"].distributions}
        drawn = values["mindspore"].distributions
        as_stated["mindspore"] = drawn == [ZEROS]
        if part == "weight":
            as_stated["mindspore"] = NORMAL in drawn
        what = message(f"operators.start {part}")
        yield from observed(what, values, _distribution, as_stated)
    for library, figures in answers.items():
        if not figures["has_bias"][kind]:
            yield Observation(message("operators.bias_by_default"), NONE, (library,))


def _distribution(values: InitialValues) -> Message:
    """The bounds of some values, and how likely the two distributions of the claims are."""
    if values.zeros == 1:
        return message("operators.all_zeros")
    return message(
        "operators.start",
        least=values.minimum,
        greatest=values.maximum,
        uniform=values.ks[UNIFORM].p,
        normal=values.ks[NORMAL].p,
    )


# Rows 71 and 72


STATE = "track_running_stats=False, inference"
"""The state of PyTorch's batch norm that the guide says learns nothing."""

STYLES = ("torch-tape", "torch-graph")

OF_ONE_DISTRIBUTION = 1.1
"""Standard deviations within this ratio may be of one distribution.

Of a thousand draws, the fewest here, it is within 3 percent.
"""


@TOPIC.claim(
    71,
    "In evaluation with track_running_stats=False, PyTorch's batch norm does what it does in"
    " training, and does not learn weight and bias.",
    heading="operators",
    guides=("000",),
    sections={"000": "nn.BatchNorm2d"},
    would="Outputs are those of training mode; weight and bias have no gradient, or one of zeros.",
    asks=(EVALUATED_BATCH_NORM, BATCH_NORM_STATES.by(*STYLES)),
)
def evaluation_learns_nothing(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when neither style has a gradient of weight or bias, and a step leaves both alone."""
    steps = evidence.records(EVALUATED_BATCH_NORM, dict[str, EvaluatedStep])["torch"]
    evaluation, training = steps["evaluation"], steps["training"]
    states = evidence.records(BATCH_NORM_STATES.by(*STYLES), States)
    learns: dict[str, bool] = {}
    gradients: dict[str, Text] = {}
    for style in STYLES:
        state = states[style][STATE]
        gradients[style] = raises(state)
        learns[style] = False
        if not state.raised:
            gradients[style] = short(state.gradients[1:])
            learns[style] = any(flat_numbers(state.gradients[1:]))
    moved = evaluation.after != evaluation.before
    alike = close(evaluation.output, training.output)
    is_still = {style: not learns[style] for style in STYLES}
    before, after = short(evaluation.before), short(evaluation.after)
    mean = short(evaluation.running_mean)
    seen = (
        *observed(message("operators.gradients_in_evaluation"), gradients, expected=is_still),
        Observation(message("operators.weight_and_bias"), before, ("torch",)),
        Observation(message("operators.after_a_step"), after, ("torch",), not moved),
        Observation(message("operators.as_in_training"), yes_or_no(alike), ("torch",), alike),
        Observation(message("operators.running_mean"), mean, ("torch",)),
    )
    if learns["torch-tape"] != learns["torch-graph"]:
        return Ruling("depends_on_style", seen)
    if moved or all(learns.values()):
        return Ruling("does_not_hold", seen, "learns")
    if not alike:
        return Ruling("does_not_hold", seen)
    return Ruling("holds", seen)


LAYERS = ("conv", "dense", "embedding", "lstm")
"""The layers of which the guide says that they declare weights; it says more of the first two."""

NORMS = ("batch norm", "layer norm", "group norm")


@TOPIC.claim(
    72,
    "Conv, Dense, Embedding and LSTM start from other weights than PyTorch's, Conv and Dense most"
    " of all.",
    heading="operators",
    guides=("000",),
    sections={"000": "Different Default Weight Initialization"},
    would=(
        "The standard deviations of all four differ between the frameworks, and those of Conv and"
        " Dense by the greatest factors."
    ),
    asks=(IMPLICIT_WEIGHTS,),
)
def weights_start_elsewhere(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the four layers differ, Conv and Dense most; outdated when those two agree.

    It holds with changes when they differ, and others more, or not all do.
    """
    answers = evidence.records(IMPLICIT_WEIGHTS, dict[str, Bounds])
    mindspore, torch = answers["mindspore"], answers["torch"]
    factors = {layer: _factor(mindspore, torch, layer) for layer in (*LAYERS, *NORMS)}
    differing = [layer for layer in LAYERS if factors[layer] > OF_ONE_DISTRIBUTION]
    norms_apart = [norm for norm in NORMS if factors[norm] > OF_ONE_DISTRIBUTION]
    seen = [*_starts(answers)]
    for layer in LAYERS:
        what = message("operators.ratio", layer=layer)
        differs = layer in differing
        seen.append(Observation(what, f"{factors[layer]:.3g}", expected=differs))
    apart = _listed(norms_apart) if norms_apart else NONE
    seen.append(Observation(message("operators.norms_apart"), apart))

    if not {"conv", "dense"} & set(differing):
        advice: Text = ""
        if differing or norms_apart:
            by_hand = tuple(map(_layer, (*differing, *norms_apart)))
            advice = message("operators.set_by_hand", layers=by_hand)
        return Ruling("outdated", tuple(seen), advice)
    least = min(factors["conv"], factors["dense"])
    most_elsewhere = max(factors["embedding"], factors["lstm"])
    if len(differing) == len(LAYERS) and least >= most_elsewhere:
        return Ruling("holds", tuple(seen))
    return Ruling("holds_with_changes", tuple(seen))


def _layer(name: str) -> Text:
    return message(f"operators.{name}") if name in NORMS else name


def _listed(names: list[str]) -> Message:
    return message("operators.listed", texts=tuple(map(_layer, names)))


def _factor(mindspore: Weights, torch: Weights, layer: str) -> float:
    """By what factor the deviations of a layer's values differ, of the one that differs most.

    Constants differ by an infinite factor, or by 1 where they are the same.
    """
    greatest = 1.0
    for name, values in mindspore.items():
        if not name.startswith(f"{layer} "):
            continue
        other = torch[name]
        least, most = sorted((values.std, other.std))
        factor = 1.0
        if least:
            factor = most / least
        elif most or values.mean != other.mean:
            factor = float("inf")
        greatest = max(greatest, factor)
    return greatest


STARTS = ("conv weight", "dense weight", "embedding weight", "lstm input weight", "lstm bias")
"""The weights that the guide speaks of, by their names in the figures."""


def _starts(answers: Mapping[str, Weights]) -> Iterator[Observation]:
    """Where each layer's weights start, by library."""
    for name in STARTS:
        values = {library: figures[name] for library, figures in answers.items()}
        yield from observed(message("operators.starts", weights=name), values, _start)


def _start(values: Bounds) -> Message:
    return message(
        "operators.start_and_std",
        least=values.minimum,
        greatest=values.maximum,
        std=values.std,
    )
