"""One table of questions by engines, each cell computed from that engine's figures; no framework
here.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.model.study import Cell, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence

ENGINES = {
    "torch-tape": "PyTorch, tape",
    "mindspore-tape": "MindSpore, tape",
    "torch-graph": "PyTorch, graph",
    "mindspore-graph": "MindSpore, graph",
}
NONE = "-"
CLOSE = 1e-5
END = re.compile(r"\. |: | \(")
"""Where the beginning of a message ends."""

LONGEST = 100

TRUE_IN_PLACE: dict[str, list[float]] = {
    "result": [math.exp(x) for x in (0, 1, 2)],
    "operand": [0, 2, 4],
}
"""The derivatives of eˣ + 1 and of x² at [0, 1, 2], whatever is changed in place after the product
was made.
"""

DOUBLED = [0, 4, 8]
"""What a hook that doubles the derivative of x² at [0, 1, 2] makes of it."""

Figures = Mapping[str, Any]


def figures(evidence: Evidence, question: str, engine: str) -> Figures:
    """What one engine said to a question; empty where it was not asked or did not answer."""
    return evidence.get(f"tape-life.{question}.{engine}") or {}


def shown(value: Any) -> str:
    """Nested numbers without needless decimals; of an attempt that raised, the type and the first
    sentence.
    """
    if raised(value):
        return refusal(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def refusal(figure: Figures) -> str:
    """The type of what was raised and the beginning of why."""
    why = END.split(figure["message"])[0]
    return f"{figure['raised']}: {why if len(why) <= LONGEST else why[: LONGEST - 1] + '…'}"


def right(value: Any, expected: Sequence[float]) -> str:
    """ "right" or "wrong" of a derivative with a closed form, "raises" of an attempt that raised."""
    if raised(value):
        return "raises"
    return (
        "right"
        if greatest_difference(value, expected) < CLOSE * max(map(abs, expected))
        else "wrong"
    )


def counted(number: int, name: str) -> str:
    """A number of things."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def unwrapped(value: Any) -> Any:
    """A gradient without the tuples of length one around it."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def recorded(evidence: Evidence, engine: str) -> str:
    """How many nodes a forward leaves on a tape; of the graph engines, where their graphs are run
    inside a gradient.
    """
    found = figures(evidence, "lifetime", engine)
    if "nodes" in found:
        return counted(len(found["nodes"]), "node")
    compiled, alone = (
        figures(evidence, "compiled", engine),
        figures(evidence, "forward_alone", engine),
    )
    if compiled:
        return f"{counted(len(compiled['nodes']), 'node')} for the whole compiled graph"
    return counted(alone["inside a gradient"]["nodes"], "node") if alone else NONE


def _kept(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "lifetime", engine)
    return told_kept(peak(found)) if found else NONE


def told_kept(kept: Figures) -> str:
    """A count of tensors with the bytes of their storages."""
    own = kept["of inputs and parameters"]
    return f"{counted(kept['tensors'], 'tensor')}: {kept['bytes']} bytes, and {own} of inputs and parameters"


def peak(found: Figures) -> Figures:
    """What is kept when the forward has ended."""
    last: Figures = [step for step in found["steps"] if step["phase"] == "forward"][-1]
    return last


def _left(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "lifetime", engine)
    return f"{found['steps'][-1]['tensors']} tensors" if found else NONE


def _twice(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "second_backward", engine)
    if found:
        return refusal(found["plain"]["second"]) if raised(found["plain"]["second"]) else "runs"
    again, compiled = (
        figures(evidence, "called_again", engine),
        figures(evidence, "compiled", engine),
    )
    if not again:
        return NONE
    if compiled and raised(compiled["second"]):
        return f"the joint graph: {_alike(again)}; compiled, backward twice: {refusal(compiled['second'])}"
    return _alike(again)


def _alike(again: Figures) -> str:
    return (
        "the same numbers"
        if all(each == again["gradients"][0] for each in again["gradients"])
        else "other numbers"
    )


def _sums(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "accumulation", engine)
    if found:
        return "in .grad: " + ", then ".join(
            shown(unwrapped(each)) for each in found[".grad after each backward"]
        )
    again = figures(evidence, "called_again", engine)
    return (
        "returned: " + ", then ".join(shown(unwrapped(each)) for each in again["gradients"][:2])
        if again
        else NONE
    )


def _zeroed(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "accumulation", engine)
    if not found:
        return "nothing to zero" if figures(evidence, "called_again", engine) else NONE
    zeros, default = found["zero_grad(set_to_none=False)"], found["zero_grad()"]
    return f"zero_grad(): {default}; with set_to_none=False: {shown(unwrapped(zeros))}"


def _cut(evidence: Evidence, engine: str) -> str:
    return (
        "; ".join(
            f"{name}: {shown(each)}" for name, each in figures(evidence, "cut_off", engine).items()
        )
        or NONE
    )


def _changed(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "in_place", engine)
    groups: dict[str, list[str]] = {}
    for name, truth in TRUE_IN_PLACE.items() if found else ():
        outcome = right(found[name], truth)
        told = refusal(found[name]) if outcome == "raises" else f"{outcome}, {shown(found[name])}"
        groups.setdefault(told, []).append(name)
    return "; ".join(f"{' and '.join(names)}: {told}" for told, names in groups.items()) or NONE


def _hooked(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "hooks", engine)
    return f"{right(found['doubled'], DOUBLED)}, {shown(found['doubled'])}" if found else NONE


def _aliased(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "answers", engine)
    return (
        "; ".join(
            f"{name}: {shown(each if raised(each) else next(iter(each.values())))}"
            for name, each in found.items()
        )
        or NONE
    )


def _extra(evidence: Evidence, engine: str) -> str:
    found = figures(evidence, "extra_output", engine)
    if not found:
        return NONE
    alone = found["first output alone"]
    moved = {
        name: greatest_difference(each, alone) for name, each in found.items() if each is not alone
    }
    return "; ".join(f"{name}: moved by {moved[name]:.3g}" for name in moved)


ROWS: dict[str, Callable[[Evidence, str], str]] = {
    "what the forward records": recorded,
    "kept at the end of the forward": _kept,
    "kept at the end of the backward": _left,
    "asked for the gradient twice": _twice,
    "twice in a row": _sums,
    "zeroing": _zeroed,
    "x³ with x² cut off": _cut,
    "what was kept is changed in place": _changed,
    "a hook that doubles": _hooked,
    "one tensor as both arguments": _aliased,
    "an extra output": _extra,
}


def questions(evidence: Evidence) -> Table:
    """Every question, put to every engine."""
    rows: list[tuple[Cell, ...]] = [
        (name, *(row(evidence, engine) for engine in ENGINES)) for name, row in ROWS.items()
    ]
    return Table(
        title="The same questions, put to four engines",
        columns=("question", *ENGINES.values()),
        rows=tuple(rows),
        note=missing(evidence),
    )


def missing(evidence: Evidence) -> str:
    """Why cells are empty, once for each reason."""
    reasons: dict[str, list[str]] = {}
    for name, failure in evidence.failures.items():
        reasons.setdefault(f"{failure.type}: {failure.message}", []).append(
            name.removeprefix("tape-life.")
        )
    return " ".join(f"No figures of {', '.join(names)}: {why}." for why, names in reasons.items())
