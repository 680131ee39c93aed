"""The rows of the table that puts the same questions to four engines: each cell is computed from
its engine's figures.
"""

from collections.abc import Callable, Mapping
from typing import Any

from explorer.numeric.differences import greatest_difference
from explorer.topics.agreement import grouped
from explorer.topics.attempts import raised
from explorer.topics.cells import EMPTY
from explorer.topics.evidence import Evidence
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    COMPILED,
    CUT_OFF,
    EXTRA_OUTPUT,
    HOOKS,
    IN_PLACE,
    LIFETIME,
    SECOND_BACKWARD,
)
from explorer.topics.tape_life.wording import (
    TRUE_IN_PLACE,
    after_forward,
    all_equal,
    correctness,
    figures_of,
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
    groups = grouped(outcomes)
    return "; ".join(f"{' and '.join(names)}: {outcome}" for names, outcome in groups)


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
"""Each question, and its answer for an engine."""
