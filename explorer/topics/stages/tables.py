"""The tables of the study of stages."""

from collections import Counter
from collections.abc import Iterator, Mapping

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Table
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, reason
from explorer.topics.question import Question
from explorer.topics.stages.passes import MEANING, readable, short
from explorer.topics.stages.programs import PHASES
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from explorer.topics.stages.readings import (
    FORM_LABELS,
    for_both_signs,
    refusal,
    shown_passes,
    size_of_loop,
    sizes_by_length,
)

MOST_OPERATORS = 4
"""How many kinds of operators a cell names."""

JOINT_GRAPH = "PyTorch's joint graph"


@TOPIC.table()
def gradient_through_the_passes(evidence: Evidence) -> Iterator[Table]:
    """What each pass made of the gradient."""
    for figures in evidence[GRADIENT_PASSES].values():
        yield _passes("The gradient through the passes", figures)


@TOPIC.table()
def training_step_through_the_passes(evidence: Evidence) -> Iterator[Table]:
    """What each pass made of a training step."""
    for figures in evidence[TRAINING_PASSES].values():
        yield _passes("A whole training step through the passes", figures)


def _passes(title: str, figures: Figures) -> Table:
    """A row for each pass that changed an operator; phases without any node have no column."""
    passes = figures["passes"]
    present = [phase for phase in PHASES if any(step[phase] for step in passes)]
    rows: list[tuple[Cell, ...]] = []
    for step in shown_passes(passes):
        name = step["pass"]
        nodes = [step[phase] for phase in present]
        changed = (most_frequent(step["appeared"]), most_frequent(step["vanished"]))
        rows.append(
            (readable(name), *nodes, step["graphs"], *changed, MEANING.get(short(name), ""))
        )
    unchanged = len(passes) - len(rows)
    return Table(
        title=title,
        columns=("pass", *present, "graphs", "appeared", "vanished", "what it is"),
        rows=tuple(rows),
        note=f"Passes that changed an operator; {unchanged} more left all operators as they were.",
    )


def most_frequent(operators: Mapping[str, int]) -> str:
    """The most frequent operators with their counts, and how many others there are."""
    # Those that are equally frequent by name: their order in the program says nothing.
    by_count = sorted(operators.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{count} {name}" for name, count in by_count[:MOST_OPERATORS])
    others = sum(count for _, count in by_count[MOST_OPERATORS:])
    return f"{named}, {others} others" if others else named


@TOPIC.table()
def what_depends_on_the_values(evidence: Evidence) -> Iterator[Table]:
    """Graphs and tapes for inputs and for their negatives, side by side."""
    rows = [
        *_for_both_signs(evidence, OTHER_VALUES, "the scenario"),
        *_for_both_signs(evidence, BRANCH, "a branch on a value"),
    ]
    yield Table(
        title="What depends on the values",
        columns=("program", "form", "for the inputs", "for their negatives", "same"),
        rows=tuple(rows),
        note=(
            "A tape holds what ran for these values. A graph holds what may run: both sides of a"
            " branch."
        ),
    )


def _for_both_signs(
    evidence: Evidence, question: Question, program: str
) -> Iterator[tuple[Cell, ...]]:
    """A row for each form of a program, PyTorch's joint graph last."""
    answers = evidence[question]
    for party, form in FORM_LABELS.items():
        if party not in answers:
            why = reason(evidence, question, party, with_type=True)
            yield program, form, EMPTY, EMPTY, why
            continue
        one, other = for_both_signs(answers[party])
        yield program, form, _contents(one), _contents(other), _yes(_are_same(one, other))

    if "torch" not in answers:
        yield program, JOINT_GRAPH, EMPTY, EMPTY, EMPTY
        return
    one, other = for_both_signs(answers["torch"])
    size, other_size = _joint(one["joint"]), _joint(other["joint"])
    # Two graphs that could not be captured are not the same graph.
    is_same = EMPTY if raised(one["joint"]) else _yes(size == other_size)
    yield program, JOINT_GRAPH, size, other_size, is_same


def _contents(figures: Figures) -> str:
    """The operators of a tape, or the size of a graph."""
    if "tape" in figures:
        return most_frequent(Counter(figures["tape"]))
    graphs = counted(figures["graphs"], "graph")
    return f"{figures['forward']} forward, {figures['backward']} backward, {graphs}"


def _are_same(one: Figures, other: Figures) -> bool:
    """Whether two tapes have the same nodes, or two graphs are the same program."""
    key = "tape" if "tape" in one else "fingerprint"
    return bool(one[key] == other[key])


def _joint(figures: Figures) -> str:
    """The size of a joint graph, or why there is none."""
    if raised(figures):
        return refusal(figures)
    return f"{len(figures['forward'])} forward, {len(figures['backward'])} backward"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


@TOPIC.table()
def loops(evidence: Evidence) -> Iterator[Table]:
    """How many nodes each form of a loop has, by its length."""
    sizes = sizes_by_length(evidence)
    lengths: dict[str, None] = {}
    for by_length in sizes.values():
        lengths.update(dict.fromkeys(by_length))

    answers = evidence[LOOPS]
    rows: list[tuple[Cell, ...]] = []
    for party, form in FORM_LABELS.items():
        if party in answers:
            rows.append((form, *sizes[form].values(), size_of_loop(answers[party]["for"])))
        else:
            why = reason(evidence, LOOPS, party, with_type=True)
            rows.append((form, *[EMPTY] * len(lengths), why))
    if "torch" in answers:
        of_while, of_for = answers["torch"]["joint while"], answers["torch"]["joint for"]
        # One joint graph of the loop on a value would serve every length.
        captured = of_while["raised"] if raised(of_while) else "captured"
        rows.append((JOINT_GRAPH, *[captured] * len(lengths), _joint_size(of_for)))
    yield Table(
        title="A loop: one body in the graph, unrolled on the tape",
        columns=("form", *(f"while, {length} times" for length in lengths), "for, 4 times"),
        rows=tuple(rows),
        note=(
            "Nodes of the tape, or operators of the graph, forward and backward. “while” runs on a"
            " value, “for” on a constant, which a compiler unrolls too."
        ),
    )


def _joint_size(figures: Figures) -> Cell:
    """How many operators a joint graph has, or why there is none."""
    if raised(figures):
        return refusal(figures)
    return len(figures["forward"]) + len(figures["backward"])
