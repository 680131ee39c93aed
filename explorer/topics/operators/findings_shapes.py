"""What the study finds of transposing, and of pooling and convolution at the border."""

from collections.abc import Iterator
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, why_empty
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
from explorer.topics.operators.wording import (
    LABELS,
    by_answer,
    joined,
    labelled,
    message,
    short,
)
from explorer.topics.question import Question


@TOPIC.finding()
def shapes_by_transpose(evidence: Evidence) -> Iterator[str]:
    """The shape that each call gives, calls of all libraries together."""
    calls_by_outcome: dict[str, list[str]] = {}
    for library, calls in evidence[AXES].items():
        for call, figure in calls.items():
            outcome = short(figure) if raised(figure) else f"gives {short(figure['shape'])}"
            calls_by_outcome.setdefault(outcome, []).append(f"{LABELS[library]} {call}")
    sentences = []
    for outcome, calls_alike in calls_by_outcome.items():
        sentences.append(f"{outcome}: {', '.join(calls_alike)}")
    if sentences:
        yield f"Transposing a (1, 2, 3, 4) tensor {'; '.join(sentences)}."


@TOPIC.finding()
def padded_pools(evidence: Evidence) -> Iterator[str]:
    """Max pooling with "same", and with zeros put by hand where the guide has them."""
    for way in ("same", "zeros top and left, then valid"):
        pooled: dict[str, Any] = {}
        for party, figures in evidence[MAX_POOL].items():
            if way in figures:
                pooled[party] = figures[way]
        if pooled:
            yield f"Max pooling of 0..8, window 2, stride 2, {way}: {joined(by_answer(pooled))}."


@TOPIC.finding()
def sides_of_odd_zeros(evidence: Evidence) -> Iterator[str]:
    """On which side convolutions have the zero that is odd, by "same" and by a number."""
    for library, figures in evidence[CONVOLUTION_SIDES].items():
        odd = odd_sides(figures)
        refused = odd["refused"]
        refusal = ""
        if refused:
            # All are refused for one reason: PyTorch's "same" takes no stride (2.13.0).
            reason = message(figures[refused[0]])
            refusal = f"; refuses {len(refused)} of {len(figures)} settings ({reason})"
        yield (
            f'{LABELS[library]}\'s convolution with "same" puts the odd zero'
            f" after (right, bottom) in {len(odd['after'])} cases"
            f" and before (left, top) in {len(odd['before'])}{refusal}."
        )
    uneven: dict[str, str] = {}
    for framework, figures in evidence[CONVOLUTION_SIDES_OF_A_NUMBER].items():
        text = _uneven(figures)
        if text:
            uneven[framework] = text
    for frameworks, text in by_answer(uneven, str).items():
        yield f"With padding=1 and one zero too many, {frameworks} use: {text}."


def _uneven(figures: Figures) -> str:
    """The windows that have other zeros before than after."""
    windows = []
    for name, (before, after) in figures.items():
        if before != after:
            windows.append(f"{name}: {before} before, {after} after")
    return "; ".join(windows)


@TOPIC.finding()
def sizes_without_padding(evidence: Evidence) -> Iterator[str]:
    """How many output sizes follow the guides' formula."""
    right: dict[str, str] = {}
    for library, figures in evidence[VALID_SIZES].items():
        count = total = 0
        for name, sizes in figures.items():
            count += sizes.count(valid_size(WINDOWS[name]))
            total += len(sizes)
        right[library] = f"{count} of {total}"
    if right:
        yield (
            "Without padding the output size is floor((size - kernel) / stride) + 1 in"
            f" {labelled(right)} cases."
        )


@TOPIC.table()
def table_of_transposes(evidence: Evidence) -> Iterator[Table]:
    """Shape and first elements after each call."""
    rows = []
    for library, calls in evidence[AXES].items():
        for call, figure in calls.items():
            if raised(figure):
                rows.append((LABELS[library], call, message(figure), EMPTY))
                continue
            shape, elements = short(figure["shape"]), short(figure["elements"][:4])
            rows.append((LABELS[library], call, shape, elements))
    if rows:
        yield Table(
            title="Transposing a (1, 2, 3, 4) tensor of 0..23",
            columns=("framework", "call", "shape", "first elements"),
            rows=tuple(rows),
            note=why_empty(evidence, AXES, labels=LABELS),
        )


@TOPIC.table()
def table_of_pools(evidence: Evidence) -> Iterator[Table]:
    """What max pooling gives by every way to pad."""
    answers = evidence[MAX_POOL]
    ways: dict[str, None] = {}  # in the order in which they first come
    for figures in answers.values():
        ways.update(dict.fromkeys(figures))
    rows = []
    for way in ways:
        cells = [short(figures[way]) if way in figures else EMPTY for figures in answers.values()]
        rows.append((way, *cells))
    if rows:
        yield Table(
            title="Max pooling of 0..8 in 3 x 3, window 2, stride 2",
            columns=("padding", *(LABELS[party] for party in answers)),
            rows=tuple(rows),
            note=why_empty(evidence, MAX_POOL, labels=LABELS),
        )


@TOPIC.table()
def table_of_sides(evidence: Evidence) -> Iterator[Table]:
    """How often an odd zero is on which side."""
    rows = [
        *_counted_sides(evidence, CONVOLUTION_SIDES, '"same"'),
        *_counted_sides(evidence, CONVOLUTION_SIDES_OF_A_NUMBER, "padding=1"),
    ]
    if rows:
        yield Table(
            title="Convolution: where an odd zero goes",
            columns=(
                "framework",
                "padding",
                "cases",
                "even",
                "odd, after",
                "odd, before",
                "refused",
            ),
            rows=tuple(rows),
            note=why_empty(evidence, CONVOLUTION_SIDES, labels=LABELS),
        )


def _counted_sides(
    evidence: Evidence, question: Question, padding: str
) -> Iterator[tuple[Cell, ...]]:
    for library, figures in evidence[question].items():
        odd = odd_sides(figures)
        after, before, refused = len(odd["after"]), len(odd["before"]), len(odd["refused"])
        even = len(figures) - after - before - refused
        yield LABELS[library], padding, len(figures), even, after, before, refused


@TOPIC.table()
def table_of_zeros(evidence: Evidence) -> Iterator[Table]:
    """Zeros before and after for axes of 5 and 6."""
    answers = evidence[CONVOLUTION_SIDES]
    rows = []
    for name, window in WINDOWS.items():
        if window.size in {5, 6} and window.kernel > 1:
            rows.append((name, *(short(figures[name]) for figures in answers.values())))
    if answers:
        yield Table(
            title='Convolution: zeros that "same" adds',
            columns=("case", *(LABELS[library] for library in answers)),
            rows=tuple(rows),
            note="[before, after], read off a kernel that copies the first element of its window.",
        )


@TOPIC.table()
def table_of_sizes(evidence: Evidence) -> Iterator[Table]:
    """Output sizes without padding for axes of 5 and 8, beside the formula's."""
    answers = evidence[VALID_SIZES]
    rows: list[tuple[Cell, ...]] = []
    for name, window in WINDOWS.items():
        if window.size in {5, 8}:
            sizes = [short(figures[name]) for figures in answers.values()]
            rows.append((name, valid_size(window), *sizes))
    if answers:
        yield Table(
            title="Output size without padding: convolution, max pool, average pool",
            columns=("case", "formula", *(LABELS[library] for library in answers)),
            rows=tuple(rows),
            note=why_empty(evidence, VALID_SIZES, labels=LABELS),
        )
