"""Claims about layers: dropout, batch norm, initial values (rows 41 to 43, 49 and 50)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.operators.inputs import MOMENTA
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    DROPOUT_SETTINGS,
    INITIAL_VALUES,
    TOPIC,
)
from explorer.topics.operators.readings import (
    NORMAL,
    UNIFORM,
    ZEROS,
    close,
    fits,
    implied_momentum,
    statistics_moved,
    statistics_used,
)
from explorer.topics.operators.wording import short
from explorer.topics.question import FRAMEWORKS

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
    settings = evidence[DROPOUT_SETTINGS]
    mindspore, torch = settings["mindspore"], settings["torch"]
    keep_prob, rate, bare = mindspore["keep_prob=0.7"], mindspore["p=0.3"], mindspore["0.3 alone"]
    seen = tuple(_shares_seen(settings))
    if raised(keep_prob):
        return Ruling("outdated", seen, "Use p in both frameworks: keep_prob is gone.")
    if not _keep_one_share(keep_prob, torch["p=0.3"]):
        return Ruling(
            "does_not_hold",
            seen,
            "Count the survivors of your own dropout: keep_prob is not 1 - p here.",
        )
    if raised(rate):
        return Ruling("holds", seen, "Give MindSpore keep_prob = 1 - p.")
    if not _keep_one_share(rate, torch["p=0.3"]):
        return Ruling(
            "does_not_hold",
            seen,
            "Use keep_prob = 1 - p in MindSpore: its p is another number than PyTorch's.",
        )
    advice = f"Write p= by name: it means the same in both; {_bare_number(bare)} in MindSpore."
    if _keeps(bare, 0.3) and mindspore["notice"]:
        advice += " Once keep_prob is gone, as is announced, Dropout(0.3) will drop what it keeps."
    return Ruling("holds_with_changes", seen, advice)


def _shares_seen(settings: Mapping[str, Figures]) -> Iterator[Observation]:
    """The share that each setting keeps, and what MindSpore's documentation announces."""
    mindspore, torch = settings["mindspore"], settings["torch"]
    keep_prob, rate = mindspore["keep_prob=0.7"], mindspore["p=0.3"]
    is_kept = _keep_one_share(keep_prob, torch["p=0.3"])
    yield Observation("share kept by keep_prob=0.7", _share(keep_prob), ("mindspore",), is_kept)
    both = {"mindspore": rate, "torch": torch["p=0.3"]}
    # MindSpore is said to know no p.
    yield from observed(
        "share kept by p=0.3", both, _share, {"mindspore": raised(rate), "torch": True}
    )
    yield from observed(
        "share kept by Dropout(0.3)",
        {"mindspore": mindspore["0.3 alone"], "torch": torch["0.3 alone"]},
        _share,
    )
    yield Observation("share kept by rate=0.3", _share(settings["keras"]["rate=0.3"]), ("keras",))
    if mindspore["notice"]:
        notice = mindspore["notice"].rstrip(".")
        yield Observation("documentation of Dropout", notice, ("mindspore",))


def _bare_number(figure: Any) -> str:
    """What Dropout(0.3) means, by the share that it keeps."""
    if raised(figure):
        return "a bare number is refused"
    return f"a bare number means {'keep_prob' if _keeps(figure, 0.3) else 'p'}"


def _share(figure: Any) -> str:
    return said(figure) if raised(figure) else f"{figure['kept']:.3f}"


def _keeps(figure: Any, share: float) -> bool:
    return not raised(figure) and abs(figure["kept"] - share) <= SAMPLED


def _keep_one_share(figure: Any, other: Any) -> bool:
    return not raised(other) and _keeps(figure, other["kept"])


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
    states = evidence[BATCH_NORM_STATES]
    counterparts = expects["counterparts"]
    graph = _states_apart(states["mindspore-graph"], states["torch-graph"], counterparts)
    tape = _states_apart(states["mindspore-tape"], states["torch-tape"], counterparts)
    moving = _moving_states(states["mindspore-tape"])
    seen = tuple(_states_seen(states, counterparts))
    if graph and tape:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the outputs of your own layer in both modes: the states do not correspond.",
        )
    if graph or tape:
        style = "graph" if graph else "tape"
        return Ruling(
            "depends_on_style",
            seen,
            f"Check the layer in {style} style: its states differ from PyTorch's there.",
        )
    # True of use_batch_statistics=True, which takes no notice of the mode (2.10.0).
    if any("inference" in name for name in moving):
        return Ruling(
            "holds",
            seen,
            "track_running_stats=False is use_batch_statistics=True,"
            " which goes on moving the running statistics at inference.",
        )
    return Ruling(
        "holds",
        seen,
        "Use use_batch_statistics=True for track_running_stats=False, None for the usual switch.",
    )


def _states_seen(
    states: Mapping[str, Figures], counterparts: tuple[tuple[str, str], ...]
) -> Iterator[Observation]:
    """Whether counterparts agree, and which states use or move which statistics."""
    settings = {name.partition(",")[0] for name in states["mindspore-tape"]}
    yield Observation("number of states", str(len(states["torch-tape"])), ("torch",))
    yield Observation("number of settings", str(len(settings)), ("mindspore",))
    for mindspore_name, torch_name in counterparts:
        agrees: dict[str, bool] = {}
        for style in ("graph", "tape"):
            left, right = states[f"mindspore-{style}"], states[f"torch-{style}"]
            agrees[f"mindspore-{style}"] = _same_state(left[mindspore_name], right[torch_name])
        what = f"outputs and gradients of {mindspore_name} against {torch_name}"
        yield from observed(what, agrees, lambda same: "the same" if same else "others", agrees)
    moving = "; ".join(_moving_states(states["mindspore-tape"])) or "none"
    yield Observation("running statistics move in", moving, ("mindspore-tape",))
    of_the_batch = [
        name for name, state in states["keras"].items() if statistics_used(state) == "batch"
    ]
    yield Observation("statistics of the batch are used in", "; ".join(of_the_batch), ("keras",))


def _states_apart(
    mindspore: Figures, torch: Figures, counterparts: tuple[tuple[str, str], ...]
) -> int:
    """How many counterparts have other outputs or gradients."""
    # The running statistics may differ: MindSpore moves them where PyTorch keeps none (2.10.0).
    apart = 0
    for mindspore_name, torch_name in counterparts:
        if not _same_state(mindspore[mindspore_name], torch[torch_name]):
            apart += 1
    return apart


def _same_state(state: Any, other: Any) -> bool:
    if raised(state) or raised(other):
        return False
    pairs = zip(state["gradients"], other["gradients"], strict=True)
    same_gradients = all(close(gradient, other_gradient) for gradient, other_gradient in pairs)
    return same_gradients and close(state["output"], other["output"])


def _moving_states(states: Figures) -> list[str]:
    """The states in which the running statistics move."""
    moving = []
    for name, state in states.items():
        if not raised(state) and statistics_moved(state) == "moved":
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
    seen = (
        *observed("running mean after one step with momentum 0.9", means, short),
        Observation(
            "running mean after one step with momentum 0.1",
            short(torch["one_minus"]["0.9"][0]),
            ("torch",),
            turned_round,
        ),
        Observation(
            "running mean after one step with momentum 0.9",
            short(torch["same"]["0.9"][0]),
            ("torch",),
            not plain,
        ),
        *observed("weight of the old mean by default", weights, "{:g}".format),
    )
    if plain:
        return Ruling(
            "outdated",
            seen,
            "Give both frameworks the same momentum: it is no longer turned round.",
        )
    if not turned_round:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the running mean after one step before you load or train batch norm.",
        )
    equal = weights["mindspore"] == weights["torch"]
    advice = "the defaults mean the same." if equal else "the defaults differ, so set it."
    return Ruling("holds", seen, f"Give PyTorch 1 minus MindSpore's momentum; {advice}")


def _same_statistics(figures: Figures, other: Figures) -> bool:
    """Whether the running statistics are the same after one step, at every momentum."""
    return all(close(figures[str(momentum)], other[str(momentum)]) for momentum in MOMENTA)


DISTRIBUTIONS = (
    "Kolmogorov-Smirnov tests rule out all but these distributions, and MindSpore's biases are 0."
)


@TOPIC.claim(
    49,
    "Conv2d starts weights from N(0, 1) and biases from 0 in MindSpore, both from"
    " U(-sqrt k, sqrt k) in PyTorch.",
    heading="operators",
    guides=("000",),
    sections={"000": "Different Default Weight Initialization"},
    would=DISTRIBUTIONS,
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
    would=DISTRIBUTIONS,
    asks=(INITIAL_VALUES,),
    expects={"kind": "dense"},
)
def initial_distributions(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's weights are normal and its biases 0.

    It holds with changes when only one of the two is so, and is outdated when both frameworks draw
    from one distribution by now.
    """
    kind = expects["kind"]
    answers = evidence[INITIAL_VALUES]
    seen = tuple(_initial_values_seen(answers, kind))
    mindspore, torch = answers["mindspore"], answers["torch"]
    weights, biases = fits(mindspore[f"{kind} weight"]), fits(mindspore[f"{kind} bias"])
    has_bias = mindspore["has_bias"][kind]
    neither = Ruling(
        "does_not_hold",
        seen,
        "Set the initial values of both frameworks yourself before you compare training.",
    )
    # What the guides say of PyTorch must hold before anything is said of MindSpore.
    for part in ("weight", "bias"):
        if UNIFORM not in fits(torch[f"{kind} {part}"]):
            return neither
    if NORMAL in weights and biases == [ZEROS]:
        return Ruling(
            "holds",
            seen,
            "Give MindSpore the initialisers of PyTorch, HeUniform(sqrt 5) and a uniform bias.",
        )
    if NORMAL in weights or biases == [ZEROS]:
        return Ruling(
            "holds_with_changes",
            seen,
            "Set the initial values of weights and biases yourself: the guide is right about one of"
            " the two.",
        )
    if UNIFORM in weights and UNIFORM in biases:
        advice = "Leave the defaults: both frameworks draw from one distribution"
        request = "" if has_bias else "; ask MindSpore for the bias"
        return Ruling("outdated", seen, f"{advice}{request}.")
    return neither


def _initial_values_seen(answers: dict[str, Figures], kind: str) -> Iterator[Observation]:
    """Where weights and biases start, beside the bound of which the statement speaks."""
    bound = answers["torch"][f"{kind} weight"]["bound"]
    yield Observation("sqrt k, the bound of the uniform distribution", f"{bound:.4f}")
    for part in ("weight", "bias"):
        values = {library: figures[f"{kind} {part}"] for library, figures in answers.items()}
        # The statement says nothing of Keras.
        drawn = {library: fits(values[library]) for library in FRAMEWORKS}
        as_stated = {
            "mindspore": NORMAL in drawn["mindspore"]
            if part == "weight"
            else drawn["mindspore"] == [ZEROS],
            "torch": UNIFORM in drawn["torch"],
        }
        yield from observed(f"initial values of the {part}", values, _distribution, as_stated)
    without = [library for library, figures in answers.items() if not figures["has_bias"][kind]]
    for library in without:
        yield Observation("bias by default", "none", (library,))


def _distribution(values: Figures) -> str:
    """The bounds of some values, and how likely the two distributions of the claims are."""
    if values["zeros"] == 1:
        return "all zeros"
    uniform, normal = values["ks"][UNIFORM]["p"], values["ks"][NORMAL]["p"]
    bounds = f"[{values['minimum']:.4f}, {values['maximum']:.4f}]"
    return f"in {bounds}, p = {uniform:.2g} for uniform, {normal:.2g} for normal"
