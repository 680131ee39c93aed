"""The tables of the study of the tape's life."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.study import Cell, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, grouped, no_figures, why_empty
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    COMPILED,
    CUT_OFF,
    EVERY,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    FREEING,
    HOOKS,
    IN_PLACE,
    LIFETIME,
    SECOND_BACKWARD,
    SWITCHES,
    TOPIC,
)
from explorer.topics.tape_life.wording import (
    TRUE_IN_PLACE,
    after_forward,
    all_equal,
    correctness,
    figures_of,
    forwards,
    judged_in_place,
    kept_tensors,
    one_after_the_other,
    recorded_nodes,
    refusal,
    shown,
    unwrapped,
)

DOUBLED = [0, 4, 8]
"""What a hook that doubles the derivative of x² at [0, 1, 2] makes of it."""


# The cells of the table of questions, each computed from its engine's figures


def kept_after_forward(evidence: Evidence, engine: str) -> str:
    """What is kept when the forward has ended."""
    life = figures_of(evidence, LIFETIME, engine)
    return kept_tensors(after_forward(life)) if life else EMPTY


def kept_after_backward(evidence: Evidence, engine: str) -> str:
    """What is still kept when the backward has ended."""
    life = figures_of(evidence, LIFETIME, engine)
    return f"{life['steps'][-1]['tensors']} tensors" if life else EMPTY


def asked_twice(evidence: Evidence, engine: str) -> str:
    """What a second backward does, or a second call of the gradient function."""
    ways = figures_of(evidence, SECOND_BACKWARD, engine)
    if ways:
        second = ways["plain"]["second"]
        return refusal(second) if raised(second) else "runs"
    again = figures_of(evidence, CALLED_AGAIN, engine)
    if not again:
        return EMPTY
    outcome = "the same numbers" if all_equal(again["gradients"]) else "other numbers"
    compiled = figures_of(evidence, COMPILED, engine)
    # A compiled net is one node of a tape, which refuses a second backward like any other.
    if compiled and raised(compiled["second"]):
        return (
            f"the joint graph: {outcome}; compiled, backward twice: {refusal(compiled['second'])}"
        )
    return outcome


def twice_in_a_row(evidence: Evidence, engine: str) -> str:
    """What two gradients in a row leave in ``.grad``, or return."""
    sums = figures_of(evidence, ACCUMULATION, engine)
    if sums:
        return f"in .grad: {one_after_the_other(sums['.grad after each backward'])}"
    again = figures_of(evidence, CALLED_AGAIN, engine)
    return f"returned: {one_after_the_other(again['gradients'][:2])}" if again else EMPTY


def zeroing(evidence: Evidence, engine: str) -> str:
    """What zeroing leaves of ``.grad``."""
    sums = figures_of(evidence, ACCUMULATION, engine)
    if sums:
        zeros = shown(unwrapped(sums["zero_grad(set_to_none=False)"]))
        return f"zero_grad(): {sums['zero_grad()']}; with set_to_none=False: {zeros}"
    # Gradients that are returned add up nowhere.
    return "nothing to zero" if figures_of(evidence, CALLED_AGAIN, engine) else EMPTY


def cut_off(evidence: Evidence, engine: str) -> str:
    """The derivative of x³ with x² cut off, by each way to cut."""
    ways = figures_of(evidence, CUT_OFF, engine)
    return "; ".join(f"{way}: {shown(figure)}" for way, figure in ways.items()) or EMPTY


def changed_in_place(evidence: Evidence, engine: str) -> str:
    """What comes of a change in place; programs with the same outcome stand together."""
    changed = figures_of(evidence, IN_PLACE, engine)
    if not changed:
        return EMPTY
    outcomes = {name: judged_in_place(changed[name], name) for name in TRUE_IN_PLACE}
    cells = []
    for names, outcome in grouped(outcomes):
        cells.append(f"{' and '.join(names)}: {outcome}")
    return "; ".join(cells)


def hooked(evidence: Evidence, engine: str) -> str:
    """What a hook makes of the gradient that passes by."""
    hooks = figures_of(evidence, HOOKS, engine)
    if not hooks:
        return EMPTY
    return f"{correctness(hooks['doubled'], DOUBLED)}, {shown(hooks['doubled'])}"


def one_tensor_twice(evidence: Evidence, engine: str) -> str:
    """The gradient with respect to each argument where both are one tensor."""
    answers = figures_of(evidence, ANSWERS, engine)
    cells = [f"{argument}: {shown(only_leaf(answer))}" for argument, answer in answers.items()]
    return "; ".join(cells) or EMPTY


def only_leaf(answer: Mapping[str, Any]) -> Any:
    """The numbers of an answer with one tensor; of an attempt that raised, itself."""
    return answer if raised(answer) else next(iter(answer.values()))


def extra_output(evidence: Evidence, engine: str) -> str:
    """How far an extra output moves the weight's gradient, by what is done about it."""
    ways = figures_of(evidence, EXTRA_OUTPUT, engine)
    cells = []
    for way, gradient in ways.items():
        if way != "first output alone":
            moved = greatest_difference(gradient, ways["first output alone"])
            cells.append(f"{way}: moved by {moved:.3g}")
    return "; ".join(cells) or EMPTY


ROWS: dict[str, Callable[[Evidence, str], str]] = {
    "what the forward records": recorded_nodes,
    "kept at the end of the forward": kept_after_forward,
    "kept at the end of the backward": kept_after_backward,
    "asked for the gradient twice": asked_twice,
    "twice in a row": twice_in_a_row,
    "zeroing": zeroing,
    "x³ with x² cut off": cut_off,
    "what was kept is changed in place": changed_in_place,
    "a hook that doubles": hooked,
    "one tensor as both arguments": one_tensor_twice,
    "an extra output": extra_output,
}
"""Each question of the table, and the function that gives an engine's answer to it."""


# The tables


@TOPIC.table()
def questions_by_engine(evidence: Evidence) -> Iterator[Table]:
    """Every question, put to every engine."""
    rows: list[tuple[Cell, ...]] = []
    for question, answer in ROWS.items():
        cells = [answer(evidence, engine) for engine in EVERY]
        rows.append((question, *cells))
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
            counts = (alive.get("nodes"), alive["tensors"], alive["bytes"])
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
        note=(
            "Nodes without leaves; those of MindSpore's tape are found from the loss, and without it not"
            " at all. Bytes are of storages that only the tape keeps, each once."
            f" {why_empty(evidence, FREEING)}"
        ).strip(),
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
        note=why_empty(evidence, SECOND_BACKWARD),
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
            refused = refusal(left) if raised(left) else None
            rows.append((forward, left.get("nodes"), left.get("saved"), refused))
    note = (
        "PyTorch on the sum of cubes; MindSpore on the scenario. What a compiled net saves cannot"
        " be observed: hooks on saved tensors are for tapes."
        f" {why_empty(evidence, SWITCHES, FORWARD_ALONE)}"
    )
    yield Table(
        title="What a forward records, by how it is called",
        columns=("forward", "nodes", "saved tensors", "gradient afterwards"),
        rows=tuple(rows),
        note=note.strip(),
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
        f" that made them. {why_empty(evidence, LIFETIME)}"
    )
    yield Table(
        title="Saved tensors by operator",
        columns=("engine", "operator", "saved tensors"),
        rows=tuple(rows),
        note=note.strip(),
    )
