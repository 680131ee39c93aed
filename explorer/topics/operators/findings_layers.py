"""What the study finds of layers: dropout, batch norm, transposing, pooling, convolution."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.cells import messages, missing
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.operators.inputs import BATCH, MEAN, MOMENTA, WINDOWS
from explorer.topics.operators.questions import (
    AXES,
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    LIBRARIES,
    MAX_POOL,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import (
    CHANNELS,
    BatchNormState,
    DropoutDraws,
    DropoutMask,
    DropoutSettings,
    Survival,
    Transposed,
    close,
    implied_momentum,
    odd_sides,
    statistics_moved,
    statistics_used,
    valid_size,
    variance_kind,
)
from explorer.topics.operators.wording import (
    LABELS,
    by_answer,
    columns,
    digits,
    joined,
    joint_label,
    label,
    labelled,
    raises,
    result,
    short,
    state_text,
    way_text,
    window_text,
)
from explorer.topics.question import Question

Row = tuple[Cell | Text, ...]

BATCH_MEAN = BATCH.mean(CHANNELS).tolist()


@TOPIC.finding()
def share_kept_by_a_bare_number(evidence: Evidence) -> Iterator[Message]:
    """The share that Dropout(0.3) keeps in each library, and MindSpore's names for the number."""
    answers = evidence.records(DROPOUT_SETTINGS, DropoutSettings)
    kept: dict[str, Text] = {}
    for library, settings in answers.items():
        if not settings.bare.raised:
            kept[library] = f"{settings.bare.kept:.1%}"
    if kept:
        yield message("operators.bare_number", kept=labelled(kept))

    mindspore = answers.get("mindspore")
    if mindspore and not mindspore.by_p.raised and not mindspore.by_keep_prob.raised:
        yield message(
            "operators.dropout_parameters",
            parameters=mindspore.parameters[:2],
            by_rate=mindspore.by_p.kept,
            by_share=mindspore.by_keep_prob.kept,
        )


REPEATS = {True: "repeats", False: "draws_anew"}


@TOPIC.finding()
def masks_of_dropout(evidence: Evidence) -> Iterator[Message]:
    """The mean of many draws, when a seed repeats a mask, and whether backward has that mask."""
    for framework, drawn in evidence.records(DROPOUT_DRAWS, DropoutDraws).items():
        existing = REPEATS[drawn.same_layer_repeats_after_seed]
        new = REPEATS[drawn.new_layer_repeats_after_seed]
        yield message(
            "operators.draws",
            framework=label(framework),
            draws=drawn.draws,
            least=min(drawn.ratio),
            most=max(drawn.ratio),
            existing=message(f"operators.existing {existing}"),
            new=message(f"operators.new {new}"),
        )
    with_it: list[str] = []
    without: list[str] = []
    for engine, mask in evidence.records(DROPOUT_MASK, DropoutMask).items():
        engines = with_it if mask.is_the_same else without
        engines.append(engine)
    if not with_it and not without:
        return
    has_mask = joint_label(with_it) if with_it else message("operators.no_engine")
    if without:
        others = joint_label(without)
        yield message("operators.mask_not_in", engines=has_mask, without=others)
    else:
        yield message("operators.mask_in", engines=has_mask)


@TOPIC.finding()
def states_of_batch_norm(evidence: Evidence) -> Iterator[Message]:
    """In how many states batch norm can be, and how many different things these do."""
    answers = evidence.records(BATCH_NORM_STATES, dict[str, BatchNormState])
    for library in LIBRARIES:
        # One style stands for its framework here; the table says whether the other agrees.
        states = answers.get(f"{library}-tape", answers.get(library))
        if not states:
            continue
        kinds = set()
        for state in states.values():
            if not state.raised:
                kinds.add((statistics_used(state), statistics_moved(state)))
        things = []
        for used, moved in sorted(kinds):
            things.append(
                message(
                    "operators.statistics",
                    used=message(f"operators.uses {used}"),
                    moved=message(f"operators.running {moved}"),
                )
            )
        yield message(
            "operators.states",
            states=len(states),
            library=label(library),
            kinds=len(kinds),
            things=tuple(things),
        )


@TOPIC.finding()
def meaning_of_momentum(evidence: Evidence) -> Iterator[Message]:
    """What the default momentum weighs, and which variance of the batch is taken in."""
    defaults: dict[str, Text] = {}
    variances: dict[str, Text] = {}
    for library, figures in evidence[BATCH_NORM_MOMENTUM].items():
        defaults[library] = f"{implied_momentum(figures['default']):g}"
        # PyTorch was given each momentum twice: as it is, and as 1 minus it.
        kind = variance_kind(figures.get("one_minus", figures))
        variances[library] = message(f"operators.variance {kind}")
    if defaults:
        yield message("operators.old_weights", weights=labelled(defaults))
        yield message("operators.variances", variances=joined(by_answer(variances, _as_it_is)))


def _as_it_is(text: Text) -> Text:
    return text


@TOPIC.finding()
def shapes_by_transpose(evidence: Evidence) -> Iterator[Message]:
    """The shape that each call gives, calls of all libraries together."""
    outcomes: list[Text] = []
    calls_of_outcomes: list[list[Message]] = []
    for library, calls in evidence.records(AXES, dict[str, Transposed]).items():
        for call, given in calls.items():
            outcome = _outcome(given)
            if outcome not in outcomes:
                outcomes.append(outcome)
                calls_of_outcomes.append([])
            called = message("operators.call_of", who=label(library), call=call)
            calls_of_outcomes[outcomes.index(outcome)].append(called)
    listed = []
    for outcome, calls_alike in zip(outcomes, calls_of_outcomes, strict=True):
        alike = tuple(calls_alike)
        listed.append(message("operators.outcome", outcome=outcome, calls=alike))
    if listed:
        yield message("operators.transposes", outcomes=tuple(listed))


def _outcome(given: Transposed) -> Text:
    if given.raised:
        return raises(given)
    return message("operators.gives", shape=short(given.shape))


@TOPIC.finding()
def padded_pools(evidence: Evidence) -> Iterator[Message]:
    """Max pooling with "same", and with zeros put by hand where the guide has them."""
    for way in ("same", "zeros top and left, then valid"):
        pooled: dict[str, Any] = {}
        for party, figures in evidence[MAX_POOL].items():
            if way in figures:
                pooled[party] = figures[way]
        if pooled:
            yield message("operators.pools", way=way_text(way), pooled=joined(by_answer(pooled)))


@TOPIC.finding()
def sides_of_odd_zeros(evidence: Evidence) -> Iterator[Message]:
    """On which side convolutions have the zero that is odd, by "same" and by a number."""
    for library, figures in evidence[CONVOLUTION_SIDES].items():
        odd = odd_sides(figures)
        counts = {"after": len(odd.after), "before": len(odd.before)}
        if not odd.refused:
            yield message("operators.odd_zeros", library=label(library), **counts)
            continue
        yield message(
            "operators.odd_zeros_and_refusals",
            library=label(library),
            **counts,
            refused=len(odd.refused),
            of=len(figures),
            # All are refused for one reason: PyTorch's "same" takes no stride (2.13.0).
            why=result(figures[odd.refused[0]]),
        )
    uneven: dict[str, Any] = {}
    for framework, figures in evidence[CONVOLUTION_SIDES_OF_A_NUMBER].items():
        windows = _uneven(figures)
        if windows:
            uneven[framework] = windows
    for frameworks, uses in by_answer(uneven, _listed_windows):
        yield message("operators.uneven", frameworks=frameworks, uses=uses)


def _uneven(figures: Figures) -> list[Message]:
    """The windows that have other zeros before than after."""
    windows = []
    for name, (before, after) in figures.items():
        if before != after:
            window = window_text(name)
            windows.append(message("operators.zeros_of", window=window, before=before, after=after))
    return windows


def _listed_windows(windows: list[Message]) -> Message:
    return message("operators.windows", windows=tuple(windows))


@TOPIC.finding()
def sizes_without_padding(evidence: Evidence) -> Iterator[Message]:
    """How many output sizes follow the guides' formula."""
    right: dict[str, Text] = {}
    for library, figures in evidence[VALID_SIZES].items():
        count = total = 0
        for name, sizes in figures.items():
            count += sizes.count(valid_size(WINDOWS[name]))
            total += len(sizes)
        right[library] = message("operators.count", count=count, of=total)
    if right:
        yield message("operators.sizes", right=labelled(right))


@TOPIC.table()
def table_of_dropout_settings(evidence: Evidence) -> Iterator[Table[Text]]:
    """What becomes of ones by every way to ask for dropout."""
    settings = evidence[DROPOUT_SETTINGS]
    ways: dict[str, None] = {}  # in the order in which they first come
    for figures in settings.values():
        ways.update(dict.fromkeys(figures))
    for name in ("parameters", "notice"):  # the signature and its announcement: no ways to ask
        ways.pop(name, None)
    rows: list[Row] = []
    for way in ways:
        cells = [_survival(figures.get(way)) for figures in settings.values()]
        rows.append((way_text(way), *cells))
    if rows:
        yield Table[Text](
            title=message("operators.dropout_table"),
            columns=(message("operators.asked_for"), *columns(settings)),
            rows=tuple(rows),
            note=missing(evidence, DROPOUT_SETTINGS, labels=LABELS),
        )


def _survival(figure: Any) -> Text:
    if figure is None:
        return EMPTY
    if raised(figure):
        return result(figure)
    survival = msgspec.convert(figure, Survival)
    return f"{survival.kept:.3f}, {survival.survivor:.4g}"


@TOPIC.table()
def table_of_dropout_draws(evidence: Evidence) -> Iterator[Table[Text]]:
    """The means of many dropouts, and when a seed brings a mask back."""
    rows: list[Row] = []
    for framework, drawn in evidence.records(DROPOUT_DRAWS, DropoutDraws).items():
        rows.append(
            (
                label(framework),
                drawn.draws,
                min(drawn.ratio),
                max(drawn.ratio),
                drawn.same_layer_repeats_after_seed,
                drawn.new_layer_repeats_after_seed,
            )
        )
    if rows:
        yield Table[Text](
            title=message("operators.draws_table"),
            columns=messages(
                "operators",
                "framework",
                "draws_column",
                "least_mean",
                "greatest",
                "same_layer",
                "new_layer",
            ),
            rows=tuple(rows),
            note=missing(evidence, DROPOUT_DRAWS, labels=LABELS),
        )


@TOPIC.table()
def table_of_batch_norm_states(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each state normalises with and does to the running statistics, and its gradient."""
    answers = evidence.records(BATCH_NORM_STATES, dict[str, BatchNormState])
    rows: list[Row] = []
    for library in LIBRARIES:
        graph = answers.get(f"{library}-graph", {})
        states = answers.get(library) or answers.get(f"{library}-tape") or graph
        for name, state in states.items():
            rows.append((label(library), state_text(name), *_state(state, graph.get(name))))
    if rows:
        yield Table[Text](
            title=message("operators.states_table"),
            columns=messages(
                "operators",
                "framework",
                "state_column",
                "normalises_with",
                "running_statistics",
                "running_mean",
                "greatest_gradient",
                "graph_is_tape",
            ),
            rows=tuple(rows),
            note=missing(evidence, BATCH_NORM_STATES, labels=LABELS),
        )


def _state(state: BatchNormState, in_graph: BatchNormState | None) -> Row:
    if state.raised:
        return state.error, EMPTY, EMPTY, EMPTY, EMPTY
    input_gradient = state.gradients[0]
    agrees: Cell = EMPTY
    if in_graph and not in_graph.raised:
        agrees = close(input_gradient, in_graph.gradients[0])
    return (
        message(f"operators.uses {statistics_used(state)}"),
        message(f"operators.running {statistics_moved(state)}"),
        short(state.running[0]),
        float(np.abs(input_gradient[0]).max()),
        agrees,
    )


@TOPIC.table()
def table_of_momenta(evidence: Evidence) -> Iterator[Table[Text]]:
    """The running mean after one step by momentum; PyTorch is given 1 minus it, and it itself."""
    names, after_one_step = _running_statistics(evidence)
    rows: list[Row] = []
    for name in (*map(str, MOMENTA), "default"):
        means = [short(statistics[name][0]) for statistics in after_one_step]
        rows.append((message("operators.momentum_of", momentum=way_text(name)), *means))
    if after_one_step:
        start, batch = digits(MEAN.tolist()), digits(BATCH_MEAN)
        yield Table[Text](
            title=message("operators.momenta_table", start=start, batch=batch),
            columns=("m", *names),
            rows=tuple(rows),
            note=missing(evidence, BATCH_NORM_MOMENTUM, labels=LABELS),
        )


def _running_statistics(evidence: Evidence) -> tuple[list[Text], list[Figures]]:
    """The table's columns, and the running statistics after one step by momentum in each."""
    answers = evidence[BATCH_NORM_MOMENTUM]
    torch = answers.pop("torch", None)
    names: list[Text] = list(map(label, answers))
    statistics = list(answers.values())
    if torch is not None:
        default = {"default": torch["default"]}
        names += ["PyTorch, 1 - m", "PyTorch, m"]
        statistics += [torch["one_minus"] | default, torch["same"] | default]
    return names, statistics


@TOPIC.table()
def table_of_transposes(evidence: Evidence) -> Iterator[Table[Text]]:
    """Shape and first elements after each call."""
    rows: list[Row] = []
    for library, calls in evidence.records(AXES, dict[str, Transposed]).items():
        for call, given in calls.items():
            if given.raised:
                rows.append((label(library), call, given.error, EMPTY))
                continue
            shape, elements = short(given.shape), short(given.elements[:4])
            rows.append((label(library), call, shape, elements))
    if rows:
        yield Table[Text](
            title=message("operators.transposes_table"),
            columns=messages("operators", "framework", "call", "shape", "first_elements"),
            rows=tuple(rows),
            note=missing(evidence, AXES, labels=LABELS),
        )


@TOPIC.table()
def table_of_pools(evidence: Evidence) -> Iterator[Table[Text]]:
    """What max pooling gives by every way to pad."""
    answers = evidence[MAX_POOL]
    ways: dict[str, None] = {}  # in the order in which they first come
    for figures in answers.values():
        ways.update(dict.fromkeys(figures))
    rows: list[Row] = []
    for way in ways:
        cells: list[Text] = []
        for figures in answers.values():
            is_given = way in figures
            cells.append(short(figures[way]) if is_given else EMPTY)
        rows.append((way_text(way), *cells))
    if rows:
        yield Table[Text](
            title=message("operators.pools_table"),
            columns=(message("operators.padding"), *columns(answers)),
            rows=tuple(rows),
            note=missing(evidence, MAX_POOL, labels=LABELS),
        )


@TOPIC.table()
def table_of_sides(evidence: Evidence) -> Iterator[Table[Text]]:
    """How often an odd zero is on which side."""
    rows = [
        *_counted_sides(evidence, CONVOLUTION_SIDES, '"same"'),
        *_counted_sides(evidence, CONVOLUTION_SIDES_OF_A_NUMBER, "padding=1"),
    ]
    if rows:
        yield Table[Text](
            title=message("operators.sides_table"),
            columns=messages(
                "operators",
                "framework",
                "padding",
                "cases",
                "even",
                "odd_after",
                "odd_before",
                "refused",
            ),
            rows=tuple(rows),
            note=missing(evidence, CONVOLUTION_SIDES, labels=LABELS),
        )


def _counted_sides(evidence: Evidence, question: Question, padding: str) -> Iterator[Row]:
    for library, figures in evidence[question].items():
        odd = odd_sides(figures)
        after, before, refused = len(odd.after), len(odd.before), len(odd.refused)
        even = len(figures) - after - before - refused
        yield label(library), padding, len(figures), even, after, before, refused


@TOPIC.table()
def table_of_zeros(evidence: Evidence) -> Iterator[Table[Text]]:
    """Zeros before and after for axes of 5 and 6."""
    answers = evidence[CONVOLUTION_SIDES]
    rows: list[Row] = []
    for name, window in WINDOWS.items():
        if window.size in {5, 6} and window.kernel > 1:
            zeros = [short(figures[name]) for figures in answers.values()]
            rows.append((window_text(name), *zeros))
    if answers:
        yield Table[Text](
            title=message("operators.zeros_table"),
            columns=(message("operators.case"), *columns(answers)),
            rows=tuple(rows),
            note=message("operators.zeros_note"),
        )


@TOPIC.table()
def table_of_sizes(evidence: Evidence) -> Iterator[Table[Text]]:
    """Output sizes without padding for axes of 5 and 8, beside the formula's."""
    answers = evidence[VALID_SIZES]
    rows: list[Row] = []
    for name, window in WINDOWS.items():
        if window.size in {5, 8}:
            sizes = [short(figures[name]) for figures in answers.values()]
            rows.append((window_text(name), valid_size(window), *sizes))
    if answers:
        yield Table[Text](
            title=message("operators.sizes_table"),
            columns=(*messages("operators", "case", "formula"), *columns(answers)),
            rows=tuple(rows),
            note=missing(evidence, VALID_SIZES, labels=LABELS),
        )


@TOPIC.chart()
def running_mean_by_momentum(evidence: Evidence) -> Iterator[Chart[Text]]:
    """Running mean of the second channel against momentum.

    The lines of MindSpore and PyTorch are mirror images of each other.
    """
    series = []
    for library, figures in evidence[BATCH_NORM_MOMENTUM].items():
        statistics = figures.get("same", figures)
        means = [statistics[str(momentum)][0][1] for momentum in MOMENTA]
        series.append(Series[Text](label(library), MOMENTA, tuple(means)))
    if series:
        yield Chart[Text](
            name="momentum",
            title=message("operators.momentum_chart"),
            kind="line",
            x=message("operators.momentum"),
            y=message("operators.running_mean"),
            series=tuple(series),
            note=message(
                "operators.momentum_note", start=float(MEAN[1]), batch=float(BATCH_MEAN[1])
            ),
        )
