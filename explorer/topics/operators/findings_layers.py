"""What the study finds of dropout and batch norm: settings, masks, states, momenta."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, why_empty
from explorer.topics.operators.inputs import BATCH, MEAN, MOMENTA
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    LIBRARIES,
    TOPIC,
)
from explorer.topics.operators.readings import (
    CHANNELS,
    close,
    implied_momentum,
    statistics_moved,
    statistics_used,
    variance_kind,
)
from explorer.topics.operators.wording import (
    LABELS,
    by_answer,
    joined,
    joint_label,
    labelled,
    message,
    short,
)

BATCH_MEAN = BATCH.mean(CHANNELS).tolist()


@TOPIC.finding()
def share_kept_by_a_bare_number(evidence: Evidence) -> Iterator[str]:
    """The share that Dropout(0.3) keeps in each library, and MindSpore's names for the number."""
    settings = evidence[DROPOUT_SETTINGS]
    kept: dict[str, str] = {}
    for library, figures in settings.items():
        if not raised(figures["0.3 alone"]):
            kept[library] = f"{figures['0.3 alone']['kept']:.1%}"
    if kept:
        yield f"Dropout(0.3), with no name for the number, keeps: {labelled(kept)}."

    mindspore = settings.get("mindspore")
    if mindspore and not raised(mindspore["p=0.3"]) and not raised(mindspore["keep_prob=0.7"]):
        yield (
            f"MindSpore's Dropout takes {' and '.join(mindspore['parameters'][:2])}:"
            f" p=0.3 keeps {mindspore['p=0.3']['kept']:.1%}"
            f" and keep_prob=0.7 keeps {mindspore['keep_prob=0.7']['kept']:.1%}, from one seed."
        )


@TOPIC.finding()
def masks_of_dropout(evidence: Evidence) -> Iterator[str]:
    """The mean of many draws, when a seed repeats a mask, and whether backward has that mask."""
    for framework, figures in evidence[DROPOUT_DRAWS].items():
        existing = "repeats" if figures["same_layer_repeats_after_seed"] else "does not repeat"
        new = "repeats" if figures["new_layer_repeats_after_seed"] else "does not repeat"
        yield (
            f"{LABELS[framework]}: the mean of {figures['draws']} dropouts is"
            f" {min(figures['ratio']):.3f} to {max(figures['ratio']):.3f} of what went in;"
            f" setting the seed again, a layer that exists {existing} its mask, and a new one {new}"
            " that of the first."
        )
    has_its_mask: dict[str, bool] = {}
    for engine, figures in evidence[DROPOUT_MASK].items():
        has_its_mask[engine] = figures["output"] == figures["gradient"]
    if has_its_mask:
        with_it = [engine for engine, is_so in has_its_mask.items() if is_so]
        without = [engine for engine, is_so in has_its_mask.items() if not is_so]
        sentence = f"Dropout's backward has its forward's mask and scale in {_listed(with_it)}"
        yield f"{sentence}, not in {_listed(without)}." if without else f"{sentence}."


def _listed(engines: list[str]) -> str:
    return joint_label(engines) or "no engine"


@TOPIC.finding()
def states_of_batch_norm(evidence: Evidence) -> Iterator[str]:
    """In how many states batch norm can be, and how many different things these do."""
    answers = evidence[BATCH_NORM_STATES]
    for library in LIBRARIES:
        # One style stands for its framework here; the table says whether the other agrees.
        states = answers.get(f"{library}-tape", answers.get(library))
        if not states:
            continue
        kinds = set()
        for state in states.values():
            if not raised(state):
                kinds.add((statistics_used(state), statistics_moved(state)))
        listed = "; ".join(
            f"{used} statistics, running ones {moved}" for used, moved in sorted(kinds)
        )
        yield (
            f"The {len(states)} states of batch norm in {LABELS[library]} do {len(kinds)} different"
            f" things: {listed}."
        )


@TOPIC.finding()
def meaning_of_momentum(evidence: Evidence) -> Iterator[str]:
    """What the default momentum weighs, and which variance of the batch is taken in."""
    defaults: dict[str, str] = {}
    variances: dict[str, str] = {}
    for library, figures in evidence[BATCH_NORM_MOMENTUM].items():
        defaults[library] = f"{implied_momentum(figures['default']):g}"
        # PyTorch was given each momentum twice: as it is, and as 1 minus it.
        variances[library] = variance_kind(figures.get("one_minus", figures))
    if defaults:
        yield (
            f"The weight of the old running mean, by default: {labelled(defaults)}"
            " (PyTorch's momentum is 1 minus it)."
        )
        yield (
            "The running variance takes in a batch variance that is:"
            f" {joined(by_answer(variances, str))}."
        )


@TOPIC.table()
def table_of_dropout_settings(evidence: Evidence) -> Iterator[Table]:
    """What becomes of ones by every way to ask for dropout."""
    settings = evidence[DROPOUT_SETTINGS]
    ways: dict[str, None] = {}  # in the order in which they first come
    for figures in settings.values():
        ways.update(dict.fromkeys(figures))
    for name in ("parameters", "notice"):  # the signature and its announcement: no ways to ask
        ways.pop(name, None)
    rows = []
    for way in ways:
        cells = [_survival(figures.get(way)) for figures in settings.values()]
        rows.append((way, *cells))
    if rows:
        yield Table(
            title="Dropout: the share that survives, and what becomes of a 1",
            columns=("asked for", *(LABELS[library] for library in settings)),
            rows=tuple(rows),
            note=why_empty(evidence, DROPOUT_SETTINGS, labels=LABELS),
        )


def _survival(figure: Any) -> str:
    if figure is None:
        return EMPTY
    if raised(figure):
        return message(figure)
    return f"{figure['kept']:.3f}, {figure['survivor']:.4g}"


@TOPIC.table()
def table_of_dropout_draws(evidence: Evidence) -> Iterator[Table]:
    """The means of many dropouts, and when a seed brings a mask back."""
    rows = []
    for framework, figures in evidence[DROPOUT_DRAWS].items():
        rows.append(
            (
                LABELS[framework],
                figures["draws"],
                min(figures["ratio"]),
                max(figures["ratio"]),
                figures["same_layer_repeats_after_seed"],
                figures["new_layer_repeats_after_seed"],
            )
        )
    if rows:
        yield Table(
            title="Dropout: expectation and seeds",
            columns=(
                "framework",
                "draws",
                "least mean / input",
                "greatest",
                "same layer repeats after seed",
                "new layer repeats",
            ),
            rows=tuple(rows),
            note=why_empty(evidence, DROPOUT_DRAWS, labels=LABELS),
        )


@TOPIC.table()
def table_of_batch_norm_states(evidence: Evidence) -> Iterator[Table]:
    """What each state normalises with and does to the running statistics, and its gradient."""
    answers = evidence[BATCH_NORM_STATES]
    rows: list[tuple[Cell, ...]] = []
    for library in LIBRARIES:
        graph = answers.get(f"{library}-graph", {})
        states = answers.get(library) or answers.get(f"{library}-tape") or graph
        for name, state in states.items():
            rows.append((LABELS[library], name, *_state(state, graph.get(name))))
    if rows:
        yield Table(
            title="Batch norm: every state",
            columns=(
                "framework",
                "state",
                "normalises with",
                "running statistics",
                "running mean",
                "greatest |dx| of image 0",
                "graph = tape",
            ),
            rows=tuple(rows),
            note=why_empty(evidence, BATCH_NORM_STATES, labels=LABELS),
        )


def _state(state: Any, in_graph: Any) -> tuple[Cell, ...]:
    if raised(state):
        return message(state), EMPTY, EMPTY, EMPTY, EMPTY
    input_gradient = state["gradients"][0]
    agrees: Cell = EMPTY
    if in_graph and not raised(in_graph):
        agrees = close(input_gradient, in_graph["gradients"][0])
    return (
        statistics_used(state),
        statistics_moved(state),
        short(state["running"][0]),
        float(np.abs(input_gradient[0]).max()),
        agrees,
    )


@TOPIC.table()
def table_of_momenta(evidence: Evidence) -> Iterator[Table]:
    """The running mean after one step by momentum; PyTorch is given 1 minus it, and it itself."""
    after_one_step = _running_statistics(evidence)
    rows = []
    for name in (*map(str, MOMENTA), "default"):
        means = [short(statistics[name][0]) for statistics in after_one_step.values()]
        rows.append((f"momentum {name}", *means))
    if after_one_step:
        start, batch = short(MEAN.tolist()), short(BATCH_MEAN)
        yield Table(
            title=f"Batch norm: running mean after one step from {start}; the batch's is {batch}",
            columns=("m", *after_one_step),
            rows=tuple(rows),
            note=why_empty(evidence, BATCH_NORM_MOMENTUM, labels=LABELS),
        )


def _running_statistics(evidence: Evidence) -> dict[str, Figures]:
    """Running statistics after one step by momentum, under the table's columns."""
    answers = evidence[BATCH_NORM_MOMENTUM]
    torch = answers.pop("torch", None)
    columns = {LABELS[library]: figures for library, figures in answers.items()}
    if torch is not None:
        default = {"default": torch["default"]}
        columns["PyTorch, 1 - m"] = torch["one_minus"] | default
        columns["PyTorch, m"] = torch["same"] | default
    return columns


@TOPIC.chart()
def running_mean_by_momentum(evidence: Evidence) -> Iterator[Chart]:
    """Running mean of the second channel against momentum.

    The lines of MindSpore and PyTorch are mirror images of each other.
    """
    series = []
    for library, figures in evidence[BATCH_NORM_MOMENTUM].items():
        statistics = figures.get("same", figures)
        means = [statistics[str(momentum)][0][1] for momentum in MOMENTA]
        series.append(Series(LABELS[library], MOMENTA, tuple(means)))
    if series:
        yield Chart(
            name="momentum",
            title="Batch norm's momentum: running mean after one step",
            kind="line",
            x="momentum",
            y="running mean",
            series=tuple(series),
            note=f"Channel 2 starts at {MEAN[1]:g}; the batch's mean is {BATCH_MEAN[1]:.3g}."
            " Each framework is given the same momentum.",
        )
