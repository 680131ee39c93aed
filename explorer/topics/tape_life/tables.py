"""The tables of the study of the tape's life."""

from collections.abc import Callable, Iterator

from explorer.model.message import Text, message
from explorer.model.study import Cell, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.cells import clauses, messages, missing, no_figures, party, sentences
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.tape_life.figures import (
    FIRST_ALONE,
    INSIDE,
    TRUE_IN_PLACE,
    Accumulated,
    CalledAgain,
    Compiled,
    Recorded,
    SecondBackward,
    all_equal,
    count,
    figures_of,
    forwards,
    judged,
    judged_in_place,
    lives,
    moments_of,
    name_of,
    names_of,
    one_after_the_other,
    only_leaf,
    refusal,
    refused,
    shown,
    unwrapped,
)
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

DOUBLED = [0, 4, 8]
"""What a hook that doubles the derivative of x² at [0, 1, 2] makes of it."""


# The cells of the table of questions, each computed from its engine's figures


def recorded_nodes(evidence: Evidence, engine: str) -> Text:
    """How many nodes a forward leaves on a tape.

    Of the graph engines, where their graphs are run inside a gradient.
    """
    life = lives(evidence).get(engine)
    if life and life.nodes is not None:
        return count("nodes", len(life.nodes))
    compiled = evidence.records(COMPILED, Compiled).get(engine)
    if compiled:
        nodes = count("nodes", len(compiled.nodes))
        return message("tape_life.of_compiled_graph", nodes=nodes)
    alone = forwards(figures_of(evidence, FORWARD_ALONE, engine))
    if alone:
        return count("nodes", alone[INSIDE].nodes or 0)
    return EMPTY


def kept_after_forward(evidence: Evidence, engine: str) -> Text:
    """What is kept when the forward has ended."""
    life = lives(evidence).get(engine)
    if not life:
        return EMPTY
    kept = life.after_forward
    tensors = count("tensors", kept.tensors)
    return message("tape_life.kept_tensors", tensors=tensors, bytes=kept.bytes, own=kept.own)


def kept_after_backward(evidence: Evidence, engine: str) -> Text:
    """What is still kept when the backward has ended."""
    life = lives(evidence).get(engine)
    if not life:
        return EMPTY
    return count("tensors", life.after_backward.tensors)


NUMBERS = {True: message("tape_life.same_numbers"), False: message("tape_life.other_numbers")}
"""What a call gives again, by whether it is equal."""


def asked_twice(evidence: Evidence, engine: str) -> Text:
    """What a second backward does, or a second call of the gradient function."""
    ways = evidence.records(SECOND_BACKWARD, dict[str, SecondBackward]).get(engine)
    if ways:
        second = ways["plain"].second
        return refusal(second) if raised(second) else message("tape_life.runs")
    again = evidence.records(CALLED_AGAIN, CalledAgain).get(engine)
    if not again:
        return EMPTY
    outcome = NUMBERS[all_equal(again.gradients)]
    compiled = evidence.records(COMPILED, Compiled).get(engine)
    # A compiled net is one node of a tape, which refuses a second backward like any other.
    if compiled and raised(compiled.second):
        error = refusal(compiled.second)
        return message("tape_life.joint_and_compiled", outcome=outcome, error=error)
    return outcome


def twice_in_a_row(evidence: Evidence, engine: str) -> Text:
    """What two gradients in a row leave in ``.grad``, or return."""
    accumulated = evidence.records(ACCUMULATION, Accumulated).get(engine)
    if accumulated:
        in_grad = one_after_the_other(accumulated.sums)
        return message("tape_life.in_grad", gradients=in_grad)
    again = evidence.records(CALLED_AGAIN, CalledAgain).get(engine)
    if not again:
        return EMPTY
    return message("tape_life.returned", gradients=one_after_the_other(again.gradients[:2]))


def zeroing(evidence: Evidence, engine: str) -> Text:
    """What zeroing leaves of ``.grad``."""
    accumulated = evidence.records(ACCUMULATION, Accumulated).get(engine)
    if accumulated:
        return message(
            "tape_life.zeroed",
            none=str(accumulated.cleared),
            zeros=shown(unwrapped(accumulated.zeroed)),
        )
    # Gradients that are returned add up nowhere.
    if not figures_of(evidence, CALLED_AGAIN, engine):
        return EMPTY
    return message("tape_life.nothing_to_zero")


def cut_off(evidence: Evidence, engine: str) -> Text:
    """The derivative of x³ with x² cut off, by each way to cut."""
    ways = figures_of(evidence, CUT_OFF, engine)
    return _by_way({way: shown(figure) for way, figure in ways.items()})


def _by_way(outcomes: dict[str, Text]) -> Text:
    """Each outcome after the way that leads to it; a cell without any is empty."""
    if not outcomes:
        return EMPTY
    listed: list[Text] = []
    for way, outcome in outcomes.items():
        listed.append(message("tape_life.by_way", ways=(name_of(way),), outcome=outcome))
    return clauses(listed)


def changed_in_place(evidence: Evidence, engine: str) -> Text:
    """What comes of a change in place; programs with the same outcome stand together."""
    changed = figures_of(evidence, IN_PLACE, engine)
    if not changed:
        return EMPTY
    outcomes = {name: judged_in_place(changed[name], name) for name in TRUE_IN_PLACE}
    listed: list[Text] = []
    for names, outcome in grouped(outcomes):
        listed.append(message("tape_life.by_way", ways=names_of(names), outcome=outcome))
    return clauses(listed)


def hooked(evidence: Evidence, engine: str) -> Text:
    """What a hook makes of the gradient that passes by."""
    hooks = figures_of(evidence, HOOKS, engine)
    return judged(hooks["doubled"], DOUBLED) if hooks else EMPTY


def one_tensor_twice(evidence: Evidence, engine: str) -> Text:
    """The gradient with respect to each argument where both are one tensor."""
    answers = figures_of(evidence, ANSWERS, engine)
    return _by_way({argument: shown(only_leaf(answer)) for argument, answer in answers.items()})


def extra_output(evidence: Evidence, engine: str) -> Text:
    """How far an extra output moves the weight's gradient, by what is done about it."""
    ways = figures_of(evidence, EXTRA_OUTPUT, engine)
    moves: dict[str, Text] = {}
    for way, gradient in ways.items():
        if way != FIRST_ALONE:
            moved = greatest_difference(gradient, ways[FIRST_ALONE])
            moves[way] = message("tape_life.moved_by", moved=moved)
    return _by_way(moves)


ROWS: tuple[Callable[[Evidence, str], Text], ...] = (
    recorded_nodes,
    kept_after_forward,
    kept_after_backward,
    asked_twice,
    twice_in_a_row,
    zeroing,
    cut_off,
    changed_in_place,
    hooked,
    one_tensor_twice,
    extra_output,
)
"""The functions that give an engine's cell in each row of the table of questions."""


# The tables


@TOPIC.table()
def questions_by_engine(evidence: Evidence) -> Iterator[Table[Text]]:
    """Every question, put to every engine."""
    rows: list[tuple[Cell | Text, ...]] = []
    for answer in ROWS:
        cells = [answer(evidence, engine) for engine in EVERY]
        rows.append((message(f"tape_life.row.{answer.__name__}"), *cells))
    yield Table(
        title=message("tape_life.questions.title"),
        columns=(*messages("tape_life.column", "question"), *map(party, EVERY)),
        rows=tuple(rows),
        note=no_figures(evidence),
    )


@TOPIC.table()
def alive_when(evidence: Evidence) -> Iterator[Table[Text]]:
    """Nodes, tensors and bytes at each moment of a tape's life."""
    rows: list[tuple[Cell | Text, ...]] = []
    for engine in evidence[FREEING]:
        for moment, alive in moments_of(evidence, engine).items():
            counts = (alive.nodes, alive.tensors, alive.bytes, alive.own)
            rows.append((party(engine), name_of(moment), *counts))
    yield Table(
        title=message("tape_life.alive.title"),
        columns=messages(
            "tape_life.column", "tape", "moment", "nodes", "saved", "bytes", "own_bytes"
        ),
        rows=tuple(rows),
        note=sentences(message("tape_life.alive.note"), missing(evidence, FREEING)),
    )


@TOPIC.table()
def second_backward(evidence: Evidence) -> Iterator[Table[Text]]:
    """What a second backward through PyTorch's tape does to ``.grad``."""
    rows: list[tuple[Cell | Text, ...]] = []
    answers = evidence.records(SECOND_BACKWARD, dict[str, SecondBackward])
    for way, backward in answers.get("torch-tape", {}).items():
        second = backward.second
        outcome = refusal(second) if raised(second) else message("tape_life.ran")
        sums = [shown(unwrapped(gradient)) for gradient in backward.grad]
        rows.append((name_of(way), outcome, *sums, backward.is_on_tape))
    yield Table(
        title=message("tape_life.second_backward.title"),
        columns=messages(
            "tape_life.column",
            "first_with",
            "second",
            "grad_after_one",
            "grad_after_two",
            "grad_on_tape",
        ),
        rows=tuple(rows),
        note=missing(evidence, SECOND_BACKWARD),
    )


@TOPIC.table()
def recorded_by_call(evidence: Evidence) -> Iterator[Table[Text]]:
    """What a forward records plainly, under each switch, and inside a gradient."""
    rows: list[tuple[Cell | Text, ...]] = []
    switches = evidence.records(SWITCHES, dict[str, Recorded]).get("torch-tape", {})
    for way, recorded in switches.items():
        rows.append((name_of(way), recorded.nodes, recorded.saved, shown(recorded.gradient)))
    for engine, figures in evidence[FORWARD_ALONE].items():
        for way, left in forwards(figures).items():
            forward = message("tape_life.forward_of", who=party(engine), way=name_of(way))
            rows.append((forward, left.nodes, left.saved, refused(left) if left.raised else None))
    yield Table(
        title=message("tape_life.recorded.title"),
        columns=messages("tape_life.column", "forward", "nodes", "saved", "gradient_afterwards"),
        rows=tuple(rows),
        note=sentences(
            message("tape_life.recorded.note"), missing(evidence, SWITCHES, FORWARD_ALONE)
        ),
    )


@TOPIC.table()
def saved_by_operator(evidence: Evidence) -> Iterator[Table[Text]]:
    """How many tensors each operator saves."""
    rows: list[tuple[Cell | Text, ...]] = []
    for engine, life in lives(evidence).items():
        for operator, number in sorted(life.savers.items()):
            rows.append((party(engine), name_of(operator), number))
    yield Table(
        title=message("tape_life.saved.title"),
        columns=messages("tape_life.column", "engine", "operator", "saved"),
        rows=tuple(rows),
        note=sentences(message("tape_life.saved.note"), missing(evidence, LIFETIME)),
    )
