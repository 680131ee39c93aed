"""What the figures of the stages say: findings, tables and charts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.messages import first_statement
from explorer.topics.attempts import raised, said
from explorer.topics.cells import clauses, heights, messages, why_missing, yes_or_no
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.question import Question
from explorer.topics.stages.programs import (
    PHASES,
    SIGNS,
    WITH_A_MEANING,
    Compiled,
    Passes,
    Size,
    readable,
    short,
)
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)

TAPES = ("torch", "mindspore-tape")

FORMS = (*TAPES, GRAPH)
"""The parties whose form of a program is measured, in the order of findings and tables."""

JOINT_GRAPH = message("stages.joint_graph")

MOST_OPERATORS = 4
"""How many kinds of operators a cell names."""


def form(party: str) -> Text:
    """The name of a program's form of a party: "PyTorch's tape"."""
    return message(f"stages.form.{party}")


def passes_of(figures: Figures) -> Passes:
    """The passes over a program."""
    return msgspec.convert(figures, Passes)


def compiled_for_both_signs(figures: Figures) -> tuple[Compiled, Compiled]:
    """The graphs for the inputs, and for their negatives."""
    one, other = (msgspec.convert(figures[name], Compiled) for name in SIGNS)
    return one, other


def for_both_signs(figures: Figures) -> tuple[Figures, Figures]:
    """What PyTorch or a tape gave for the inputs, and for their negatives."""
    one, other = (figures[name] for name in SIGNS)
    return one, other


def size_of_loop(program: Any) -> int:
    """The nodes of a tape, or the operators of a graph that compute something."""
    if isinstance(program, list):
        return len(program)
    return msgspec.convert(program, Size).computing


def sizes_by_length(evidence: Evidence) -> dict[str, dict[str, int | None]]:
    """How many nodes the loop has for every length, by party.

    None where nobody knows. A length for which nothing was compiled is served by the graph of the
    length before.
    """
    sizes: dict[str, dict[str, int | None]] = {}
    for party, figures in evidence[LOOPS.by(*FORMS)].items():
        size: int | None = None
        by_length: dict[str, int | None] = {}
        for length, program in figures["while"].items():
            if isinstance(program, list) or program["compiled"]:
                size = size_of_loop(program)
            by_length[length] = size
        sizes[party] = by_length
    return sizes


def refusal(figure: Mapping[str, Any]) -> str:
    """The type of what an attempt raised and the first statement of why."""
    return first_statement(said(figure))


# Findings


@TOPIC.finding(GRADIENT_PASSES)
def gradient_through_the_passes(evidence: Evidence) -> Iterator[Text]:
    """How much more the graph of a gradient holds than was written, and where it is largest."""
    program = passes_of(evidence[GRADIENT_PASSES][GRAPH])
    last, largest = program.last, program.largest
    yield message(
        "stages.gradient",
        net=evidence.target.name or message("stages.the_net"),
        written=message("stages.calls", n=len(program.written)),
        operators=last.computing,
        forward=last.forward,
        backward=last.backward,
        bookkeeping=last.bookkeeping,
        kernels=message("stages.kernels", n=program.kernels),
    )
    yield message(
        "stages.passes",
        passes=len(program.passes),
        changed=sum(step.changes_operators for step in program.passes),
        largest=readable(largest.name),
        nodes=largest.total,
        graphs=message("stages.graphs", n=largest.graphs),
        last=last.total,
        last_graphs=last.graphs,
    )


@TOPIC.finding(TRAINING_PASSES)
def optimizer_inside(evidence: Evidence) -> Iterator[Text]:
    """What the graph of a whole training step holds, beside that of the gradient alone."""
    program = passes_of(evidence[TRAINING_PASSES][GRAPH])
    finding = message(
        "stages.optimizer_inside",
        forward=message("stages.operators", n=program.last.forward),
        backward=program.last.backward,
        update=program.last.update,
        kernels=message("stages.kernels", n=program.kernels),
    )
    for gradient in evidence[GRADIENT_PASSES].values():
        alone = passes_of(gradient).last
        values = {"alone": alone.computing, "alone_update": alone.update}
        finding = message("stages.optimizer_beside_gradient", **finding.values, **values)
    yield finding


@TOPIC.finding()
def scenario_for_negated_inputs(evidence: Evidence) -> Iterator[Text]:
    """Whether graph and tape of the scenario depend on the values."""
    where = evidence.target.name or message("stages.the_scenario")
    yield from _for_negated_inputs(evidence, OTHER_VALUES, where)


@TOPIC.finding()
def branch_for_negated_inputs(evidence: Evidence) -> Iterator[Text]:
    """Whether graph and tape depend on the values where the program branches on one."""
    yield from _for_negated_inputs(evidence, BRANCH, str(BRANCH.scenario))


GRAPHS = {True: "stages.same_graph", False: "stages.another_graph"}
NODES = {True: "stages.same_nodes", False: "stages.other_nodes"}
"""The findings on the graphs and the tapes for both signs, by whether they are the same."""


def _for_negated_inputs(evidence: Evidence, question: Question, where: Text) -> Iterator[Text]:
    for graphs in evidence[question.by(GRAPH)].values():
        graph, negated = compiled_for_both_signs(graphs)
        is_same = graph.fingerprint == negated.fingerprint
        yield message(
            GRAPHS[is_same],
            where=where,
            one=graph.computing,
            other=negated.computing,
            # Each tells of one call, whether it compiled.
            again=graph.compiled_again + negated.compiled_again,
        )
    recorded: dict[str, tuple[bool, int, int]] = {}
    for party, tapes in evidence[question.by(*TAPES)].items():
        one, other = (figures["tape"] for figures in for_both_signs(tapes))
        recorded[party] = (one == other, len(one), len(other))
    for parties, (is_same, one_size, other_size) in grouped(recorded):
        yield message(
            NODES[is_same],
            where=where,
            one=one_size,
            other=other_size,
            forms=tuple(map(form, parties)),
        )


@TOPIC.finding()
def loop_by_length(evidence: Evidence) -> Iterator[Text]:
    """Whether a loop's graph and tape grow with its length."""
    for party, by_length in sizes_by_length(evidence).items():
        known = _known(by_length)
        if not known:
            continue
        lengths, sizes = list(known), list(known.values())
        yield message(
            "stages.loop_stays" if sizes[0] == sizes[-1] else "stages.loop_grows",
            form=form(party),
            first=sizes[0],
            last=sizes[-1],
            shortest=lengths[0],
            longest=lengths[-1],
        )


def _known(by_length: Mapping[str, int | None]) -> dict[str, int]:
    """The lengths whose sizes are known."""
    return {length: size for length, size in by_length.items() if size is not None}


@TOPIC.finding(LOOPS.by("torch"))
def joint_graph_of_the_loop(evidence: Evidence) -> Iterator[Text]:
    """Why PyTorch has no joint graph of the loop."""
    joint = evidence[LOOPS]["torch"]["joint while"]
    if raised(joint):
        yield message("stages.no_joint_graph", error=refusal(joint))


# Tables


@TOPIC.table()
def passes_of_the_gradient(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each pass made of the gradient."""
    for figures in evidence[GRADIENT_PASSES].values():
        yield _passes(message("stages.gradient_passes.title"), figures)


@TOPIC.table()
def passes_of_the_training_step(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each pass made of a training step."""
    for figures in evidence[TRAINING_PASSES].values():
        yield _passes(message("stages.training_passes.title"), figures)


def _passes(title: Text, figures: Figures) -> Table[Text]:
    """A row for each pass that changed an operator; phases without any node have no column."""
    program = passes_of(figures)
    present = [phase for phase in PHASES if any(getattr(step, phase) for step in program.passes)]
    rows: list[tuple[Cell | Text, ...]] = []
    for step in program.shown:
        nodes = [getattr(step, phase) for phase in present]
        changed = (most_frequent(step.appeared), most_frequent(step.vanished))
        meaning: Text = ""
        if short(step.name) in WITH_A_MEANING:
            meaning = message(f"stages.means.{short(step.name)}")
        rows.append((readable(step.name), *nodes, step.graphs, *changed, meaning))
    columns = ("pass", *present, "graphs_column", "appeared", "vanished", "what_it_is")
    return Table(
        title=title,
        columns=messages("stages", *columns),
        rows=tuple(rows),
        note=message("stages.unchanged", unchanged=len(program.passes) - len(rows)),
    )


def most_frequent(operators: Mapping[str, int]) -> Text:
    """The most frequent operators with their counts, and how many others there are."""
    # Those that are equally frequent by name: their order in the program says nothing.
    by_count = sorted(operators.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{count} {name}" for name, count in by_count[:MOST_OPERATORS])
    others = sum(count for _, count in by_count[MOST_OPERATORS:])
    if not others:
        return named
    return message("stages.and_others", named=named, others=others)


@TOPIC.table()
def what_depends_on_the_values(evidence: Evidence) -> Iterator[Table[Text]]:
    """Graphs and tapes for inputs and for their negatives, side by side."""
    rows = [
        *_for_both_signs(evidence, OTHER_VALUES, message("stages.the_scenario")),
        *_for_both_signs(evidence, BRANCH, message("stages.a_branch")),
    ]
    yield Table(
        title=message("stages.values.title"),
        columns=messages("stages", "program", "form", "for_inputs", "for_negatives", "same"),
        rows=tuple(rows),
        note=message("stages.values.note"),
    )


def _for_both_signs(
    evidence: Evidence, question: Question, program: Text
) -> Iterator[tuple[Cell | Text, ...]]:
    """A row for each form of a program, PyTorch's joint graph last."""
    answers = evidence[question]
    for party in FORMS:
        if party not in answers:
            why = why_missing(evidence, question, party, with_type=True)
            yield program, form(party), EMPTY, EMPTY, why
            continue
        one, other = for_both_signs(answers[party])
        same = yes_or_no(_are_same(one, other))
        yield program, form(party), _contents(one), _contents(other), same

    if "torch" not in answers:
        yield program, JOINT_GRAPH, EMPTY, EMPTY, EMPTY
        return
    one, other = for_both_signs(answers["torch"])
    size, other_size = _joint(one["joint"]), _joint(other["joint"])
    # Two graphs that could not be captured are not the same graph.
    is_same = EMPTY if raised(one["joint"]) else yes_or_no(size == other_size)
    yield program, JOINT_GRAPH, size, other_size, is_same


def _contents(figures: Figures) -> Text:
    """The operators of a tape, or the size of a graph."""
    if "tape" in figures:
        return most_frequent(Counter(figures["tape"]))
    graph = msgspec.convert(figures, Size)
    return message(
        "stages.size_of_graph",
        forward=graph.forward,
        backward=graph.backward,
        graphs=message("stages.graphs", n=graph.graphs),
    )


def _are_same(one: Figures, other: Figures) -> bool:
    """Whether two tapes have the same nodes, or two graphs are the same program."""
    key = "tape" if "tape" in one else "fingerprint"
    return bool(one[key] == other[key])


def _joint(figures: Figures) -> Text:
    """The size of a joint graph, or why there is none."""
    if raised(figures):
        return refusal(figures)
    forward, backward = len(figures["forward"]), len(figures["backward"])
    return message("stages.size_of_joint", forward=forward, backward=backward)


@TOPIC.table()
def loops(evidence: Evidence) -> Iterator[Table[Text]]:
    """How many nodes each form of a loop has, by its length."""
    sizes = sizes_by_length(evidence)
    lengths: dict[str, None] = {}
    for by_length in sizes.values():
        lengths.update(dict.fromkeys(by_length))

    answers = evidence[LOOPS]
    rows: list[tuple[Cell | Text, ...]] = []
    for party in FORMS:
        if party in answers:
            of_for = size_of_loop(answers[party]["for"])
            rows.append((form(party), *sizes[party].values(), of_for))
        else:
            why = why_missing(evidence, LOOPS, party, with_type=True)
            rows.append((form(party), *[EMPTY] * len(lengths), why))
    if "torch" in answers:
        of_while, of_for = answers["torch"]["joint while"], answers["torch"]["joint for"]
        # One joint graph of the loop on a value would serve every length.
        captured: Text = message("stages.captured")
        if raised(of_while):
            captured = of_while["raised"]
        rows.append((JOINT_GRAPH, *[captured] * len(lengths), _joint_size(of_for)))
    by_length_columns = [message("stages.while_times", length=length) for length in lengths]
    yield Table(
        title=message("stages.loops.title"),
        columns=(*messages("stages", "form"), *by_length_columns, *messages("stages", "for_times")),
        rows=tuple(rows),
        note=message("stages.loops.note"),
    )


def _joint_size(figures: Figures) -> Cell:
    """How many operators a joint graph has, or why there is none."""
    if raised(figures):
        return refusal(figures)
    return len(figures["forward"]) + len(figures["backward"])


# Charts


@TOPIC.chart()
def nodes_of_the_gradient(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The size of the gradient after each pass."""
    for figures in evidence[GRADIENT_PASSES].values():
        yield _nodes("gradient-passes", message("stages.gradient_chart.title"), figures)


@TOPIC.chart()
def nodes_of_the_training_step(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The size of a training step after each pass."""
    for figures in evidence[TRAINING_PASSES].values():
        yield _nodes("training-passes", message("stages.training_chart.title"), figures)


def _nodes(name: str, title: Text, figures: Figures) -> Chart[Text]:
    program = passes_of(figures)
    # Numbered, since a pass may run in several rounds and names must be distinct.
    names = tuple(f"{number} {short(step.name)}" for number, step in enumerate(program.shown, 1))
    series: list[Series[Text]] = []
    for phase in PHASES:
        counts = [getattr(step, phase) for step in program.shown]
        if any(counts):
            series.append(Series(message(f"stages.{phase}"), names, heights(counts)))
    after = readable(program.largest.name)
    return Chart(
        name=name,
        title=title,
        kind="line",
        x=message("stages.pass"),
        y=message("stages.nodes"),
        series=tuple(series),
        note=message("stages.chart.note", nodes=program.largest.total, after=after),
    )


@TOPIC.chart()
def loop_by_length_chart(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The size of a loop over its length."""
    series: list[Series[Text]] = []
    ends: list[Text] = []
    for party, by_length in sizes_by_length(evidence).items():
        lengths = tuple(map(float, by_length))
        known = list(_known(by_length).values())
        if not known:
            continue
        first, last = known[0], known[-1]
        ends.append(message("stages.from_to", form=form(party), first=first, last=last))
        # A length whose size nobody knows leaves a gap in the line.
        series.append(Series(form(party), lengths, heights(by_length.values())))
    if series:
        yield Chart(
            name="loop-length",
            title=message("stages.loop_chart.title"),
            kind="line",
            x=message("stages.turns"),
            y=message("stages.nodes"),
            series=tuple(series),
            note=clauses(ends),
        )
