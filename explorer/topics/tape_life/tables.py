"""The tables of the study of the tape's life."""

from collections.abc import Iterator

from explorer.model.engines import ENGINES
from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised
from explorer.topics.cells import no_figures
from explorer.topics.evidence import Evidence
from explorer.topics.tape_life.engine_table import ROWS
from explorer.topics.tape_life.questions import (
    EVERY,
    FORWARD_ALONE,
    FREEING,
    LIFETIME,
    SECOND_BACKWARD,
    SWITCHES,
    TOPIC,
)
from explorer.topics.tape_life.wording import figures_of, forwards, refusal, shown, unwrapped


@TOPIC.table()
def questions_by_engine(evidence: Evidence) -> Iterator[Table]:
    """Every question, put to every engine."""
    rows: list[tuple[Cell, ...]] = []
    for question, cell in ROWS.items():
        rows.append((question, *(cell(evidence, engine) for engine in EVERY)))
    yield Table(
        title="The same questions, put to four engines",
        columns=("question", *(ENGINES[engine].label for engine in EVERY)),
        rows=tuple(rows),
        note=no_figures(evidence),
    )


@TOPIC.table()
def alive_when(evidence: Evidence) -> Iterator[Table]:
    """Nodes, tensors and bytes at each moment of a tape's life."""
    rows: list[tuple[Cell, ...]] = []
    for engine, moments in evidence[FREEING].items():
        for moment, alive in moments.items():
            counts = (alive["nodes"], alive["tensors"], alive["bytes"])
            rows.append((ENGINES[engine].label, moment, *counts, alive["of inputs and parameters"]))
    yield Table(
        title="What is alive when",
        columns=(
            "tape",
            "moment",
            "nodes",
            "saved tensors",
            "bytes",
            "bytes of inputs and parameters",
        ),
        rows=tuple(rows),
        note="Nodes without leaves. Bytes are of storages that only the tape keeps, each once. "
        + no_figures(evidence),
    )


@TOPIC.table()
def second_backward(evidence: Evidence) -> Iterator[Table]:
    """What a second backward through PyTorch's tape does to ``.grad``."""
    rows: list[tuple[Cell, ...]] = []
    for way, figures in figures_of(evidence, SECOND_BACKWARD, "torch-tape").items():
        second = figures["second"]
        outcome = refusal(second) if raised(second) else second
        sums = [shown(unwrapped(gradient)) for gradient in figures[".grad"]]
        rows.append((way, outcome, *sums, figures[".grad is on a tape"]))
    yield Table(
        title="A second backward through PyTorch's tape",
        columns=(
            "first backward with",
            "second backward",
            ".grad after one",
            ".grad after two",
            ".grad is on a tape",
        ),
        rows=tuple(rows),
        note=no_figures(evidence),
    )


@TOPIC.table()
def recorded_by_call(evidence: Evidence) -> Iterator[Table]:
    """What a forward records plainly, under each switch, and inside a gradient."""
    rows: list[tuple[Cell, ...]] = []
    for way, figures in figures_of(evidence, SWITCHES, "torch-tape").items():
        # Of what was made in inference mode only the gradient is looked at.
        rows.append((way, figures.get("nodes"), figures.get("saved"), shown(figures["gradient"])))
    for engine, figures in evidence[FORWARD_ALONE].items():
        for way, left in forwards(figures):
            forward = f"{ENGINES[engine].label}: a forward {way}"
            rows.append((forward, left["nodes"], left["saved"], None))
    yield Table(
        title="What a forward records, by how it is called",
        columns=("forward", "nodes", "saved tensors", "gradient afterwards"),
        rows=tuple(rows),
        note=f"PyTorch on the sum of cubes; MindSpore on the scenario. {no_figures(evidence)}".strip(),
    )


@TOPIC.table()
def saved_by_operator(evidence: Evidence) -> Iterator[Table]:
    """How many tensors each operator saves."""
    rows: list[tuple[Cell, ...]] = []
    for engine, life in evidence[LIFETIME].items():
        for operator, count in sorted(life["savers"].items()):
            rows.append((ENGINES[engine].label, operator, count))
    note = (
        "PyTorch's tape: by the node that keeps them. MindSpore's tape: by the operator that ran"
        " when they were saved. Graphs: forward values that the backward reads, by the operator"
        f" that made them. {no_figures(evidence)}"
    )
    yield Table(
        title="Saved tensors by operator",
        columns=("engine", "operator", "saved tensors"),
        rows=tuple(rows),
        note=note.strip(),
    )
