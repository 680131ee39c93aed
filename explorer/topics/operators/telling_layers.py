"""What the study tells of dropout, batch norm and transposing: settings, states, what a momentum or
an order of axes means.
"""

from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.operators import asked
from explorer.topics.operators.data import BATCH, MEAN, MOMENTA
from explorer.topics.operators.facts import (
    close,
    implied_momentum,
    statistics_moved,
    statistics_used,
    variance_kind,
)
from explorer.topics.operators.shown import (
    NONE,
    TITLES,
    Found,
    alike,
    found,
    joined,
    message,
    missing,
    short,
    tell,
)
from explorer.topics.studying import Telling

BATCH_MEAN = BATCH.mean((0, 2, 3)).tolist()


def told(evidence: Evidence) -> Telling:
    """Findings, tables and charts of these layers."""
    settings, momentum = found(evidence, asked.DROPOUT_SETTINGS), found(evidence, asked.MOMENTUM)
    states, axes = found(evidence, asked.BATCH_NORM), found(evidence, asked.AXES)
    draws, masks = found(evidence, asked.DROPOUT_DRAWS), found(evidence, asked.DROPOUT_MASK)
    return tell(
        findings=[
            *_of_dropout(settings),
            *_of_draws(draws, masks),
            *_of_states(states),
            *_of_momentum(momentum),
            *_of_axes(axes),
        ],
        tables=[
            _settings(settings, missing(evidence, asked.DROPOUT_SETTINGS)),
            _draws(draws, missing(evidence, asked.DROPOUT_DRAWS)),
            _states(states, missing(evidence, asked.BATCH_NORM)),
            _momentum(momentum, missing(evidence, asked.MOMENTUM)),
            _axes(axes, missing(evidence, asked.AXES)),
        ],
        charts=_chart(momentum),
    )


def _of_dropout(settings: Found) -> Iterator[str]:
    alone = {
        who: each["0.3 alone"] for who, each in settings.items() if not raised(each["0.3 alone"])
    }
    if alone:
        kept = joined({TITLES[who]: f"{each['kept']:.1%}" for who, each in alone.items()})
        yield f"Dropout(0.3), with no name for the number, keeps: {kept}."
    both = settings.get("mindspore")
    if both and not raised(both["p=0.3"]) and not raised(both["keep_prob=0.7"]):
        yield (
            f"MindSpore's Dropout takes {' and '.join(both['parameters'][:2])}: p=0.3 keeps {both['p=0.3']['kept']:.1%} "
            f"and keep_prob=0.7 keeps {both['keep_prob=0.7']['kept']:.1%}, from one seed."
        )


def _of_draws(draws: Found, masks: Found) -> Iterator[str]:
    for who, each in draws.items():
        low, high = min(each["ratio"]), max(each["ratio"])
        again = "repeats" if each["same_layer_repeats_after_seed"] else "does not repeat"
        anew = "does" if each["new_layer_repeats_after_seed"] else "does not"
        yield (
            f"{TITLES[who]}: the mean of {each['draws']} dropouts is {low:.3f} to {high:.3f} of what went in; "
            f"setting the seed again, a layer that exists {again} its mask, a new one {anew}."
        )
    if masks:
        same = {who: each["output"] == each["gradient"] for who, each in masks.items()}
        yield f"Dropout of ones: the gradient is the output, mask and scale, in: {joined(alike(same))}."


def _settings(settings: Found, note: str) -> Table:
    ways = list(
        dict.fromkeys(way for each in settings.values() for way in each if way != "parameters")
    )
    rows = [(way, *(_survival(each.get(way)) for each in settings.values())) for way in ways]
    columns = ("asked for", *(TITLES[who] for who in settings))
    return Table(
        title="Dropout: the share that survives, and what becomes of a 1",
        columns=columns,
        rows=tuple(rows),
        note=note,
    )


def _survival(found: object) -> str:
    if found is None:
        return NONE
    return message(found) if raised(found) else f"{found['kept']:.3f}, {found['survivor']:.4g}"  # type: ignore[index]  # a dict


def _draws(draws: Found, note: str) -> Table:
    rows = [
        (
            TITLES[who],
            each["draws"],
            min(each["ratio"]),
            max(each["ratio"]),
            each["same_layer_repeats_after_seed"],
            each["new_layer_repeats_after_seed"],
        )
        for who, each in draws.items()
    ]
    columns = (
        "framework",
        "draws",
        "least mean / input",
        "greatest",
        "same layer repeats after seed",
        "new layer repeats",
    )
    return Table(
        title="Dropout: expectation and seeds", columns=columns, rows=tuple(rows), note=note
    )


def _of_states(states: Found) -> Iterator[str]:
    for framework in asked.THREE:
        figures = states.get(f"{framework}-tape", states.get(framework))
        if figures:
            kinds = {
                (statistics_used(each), statistics_moved(each))
                for each in figures.values()
                if not raised(each)
            }
            told = "; ".join(
                f"{used} statistics, running ones {moved}" for used, moved in sorted(kinds)
            )
            yield f"{TITLES[framework]}'s batch norm has {len(figures)} states that do {len(kinds)} different things: {told}."


def _states(states: Found, note: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for framework in asked.THREE:
        graph, tape = (states.get(f"{framework}-{style}", {}) for style in ("graph", "tape"))
        rows += [
            _state(framework, name, each, graph.get(name))
            for name, each in states.get(framework, tape or graph).items()
        ]
    columns = (
        "framework",
        "state",
        "normalises with",
        "running statistics",
        "running mean",
        "greatest |dx| of image 0",
        "graph = tape",
    )
    return Table(title="Batch norm: every state", columns=columns, rows=tuple(rows), note=note)


def _state(framework: str, name: str, tape: Any, graph: Any) -> tuple[Cell, ...]:
    if raised(tape):
        return TITLES[framework], name, message(tape), NONE, NONE, NONE, NONE
    same = (
        NONE if not graph or raised(graph) else close(tape["gradients"][0], graph["gradients"][0])
    )
    size = max(abs(value) for plane in tape["gradients"][0][0] for row in plane for value in row)
    return (
        TITLES[framework],
        name,
        statistics_used(tape),
        statistics_moved(tape),
        short(tape["running"][0]),
        size,
        same,
    )


def _of_momentum(momentum: Found) -> Iterator[str]:
    defaults = {who: implied_momentum(each["default"]) for who, each in momentum.items()}
    if defaults:
        yield (
            "The weight of the old running mean, by default: "
            + joined({TITLES[who]: f"{each:g}" for who, each in defaults.items()})
            + " (PyTorch's momentum is 1 minus it)."
        )
        kinds = {who: variance_kind(each.get("one_minus", each)) for who, each in momentum.items()}
        yield f"The running variance takes in a batch variance that is: {joined(alike(kinds, str))}."


def _momentum(momentum: Found, note: str) -> Table:
    columns = [(TITLES[who], who, "") for who in momentum if who != "torch"]
    if "torch" in momentum:
        columns += [("PyTorch, 1 - m", "torch", "one_minus"), ("PyTorch, m", "torch", "same")]
    rows = []
    for name in (*map(str, MOMENTA), "default"):
        figures = [
            momentum[who] if name == "default" else momentum[who].get(part, momentum[who])
            for _, who, part in columns
        ]
        rows.append((f"momentum {name}", *(short(each[name][0]) for each in figures)))
    title = f"Batch norm: running mean after one step from {short(MEAN.tolist())}; the batch's is {short(BATCH_MEAN)}"
    return Table(
        title=title,
        columns=("m", *(column for column, _, _ in columns)),
        rows=tuple(rows) if columns else (),
        note=note,
    )


def _chart(momentum: Found) -> list[Chart]:
    """Running mean of the second channel against momentum: a mirror image between MindSpore and
    PyTorch.
    """
    series = []
    for who, each in momentum.items():
        figures = each.get("same", each)
        series.append(
            Series(TITLES[who], MOMENTA, tuple(figures[str(value)][0][1] for value in MOMENTA))
        )
    if not series:
        return []
    note = f"Channel 2 starts at {MEAN[1]:g}; the batch's mean is {BATCH_MEAN[1]:.3g}. Each framework is given the same momentum."
    title = "Batch norm's momentum: running mean after one step"
    return [
        Chart(
            name="momentum",
            title=title,
            kind="line",
            x="momentum",
            y="running mean",
            series=tuple(series),
            note=note,
        )
    ]


def _of_axes(axes: Found) -> Iterator[str]:
    calls = {
        f"{TITLES[who]} {call}": made for who, each in axes.items() for call, made in each.items()
    }
    groups: dict[str, list[str]] = {}
    for call, made in calls.items():
        groups.setdefault(
            short(made) if raised(made) else f"gives {short(made['shape'])}", []
        ).append(call)
    if groups:
        yield (
            "Transposing a (1, 2, 3, 4) tensor "
            + "; ".join(f"{text}: {', '.join(names)}" for text, names in groups.items())
            + "."
        )


def _axes(axes: Found, note: str) -> Table:
    rows = [
        (
            TITLES[who],
            call,
            message(made) if raised(made) else short(made["shape"]),
            NONE if raised(made) else short(made["elements"][:4]),
        )
        for who, each in axes.items()
        for call, made in each.items()
    ]
    columns = ("framework", "call", "shape", "first elements")
    return Table(
        title="Transposing a (1, 2, 3, 4) tensor of 0..23",
        columns=columns,
        rows=tuple(rows),
        note=note,
    )
