"""Whether the cause that is named of a planted mistake is a true statement of it."""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal

import msgspec

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.causes import (
    Cause,
    Edits,
    FromLeaf,
    FromNode,
    FromSlot,
    FromThere,
    InsertOperator,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Zeros,
    form_of,
)
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    GradientAdded,
    GradientStopped,
    LoneLeaf,
    OtherStart,
    Rounded,
)
from explorer.model.errors import ExplorerError
from explorer.operators.families import family
from explorer.scenario.load import load
from explorer.words.causes import sentence as cause_sentence
from explorer.words.divergences import sentence
from explorer.workers.workers import Workers
from tests.planted.facts import Fact
from tests.planted.mistake import Mistake, Planted
from tests.planted.naming import lines_told

Verdict = Literal["cause", "place", "other cause", "elsewhere", "missed", "refused"]


class Told(msgspec.Struct, frozen=True):
    """What is told of a mistake.

    "cause": a cause that is true of it; "place": a divergence at its line, which no cause explains;
    "other cause": a cause at its line that none of its facts states; "elsewhere": divergences at other
    lines alone; "missed": none; "refused": the nets were not compared.
    """

    verdict: Verdict
    sentence: str


def tell_causes(
    mistakes: Iterable[tuple[Mistake, Planted]], engines: tuple[str, ...], workers: Workers
) -> list[Told]:
    """What one comparison, as ``diff`` makes it, tells of each mistake planted in a file."""
    pairs = list(mistakes)
    path = pairs[0][1].path
    try:
        report = explore(load(path), workers, engines=engines, selection="main", oracle=False)
    except ExplorerError as error:
        return [Told("refused", str(error))] * len(pairs)
    if not report.alignments:
        return [Told("refused", "no graphs")] * len(pairs)
    return [_told(mistake, planted, report.alignments[0]) for mistake, planted in pairs]


def _told(mistake: Mistake, planted: Planted, alignment: Alignment) -> Told:
    if not alignment.divergences:
        return Told("missed", "no divergence")
    engines = alignment.left, alignment.right
    found: dict[Verdict, str] = {}
    for divergence, cause in _named(alignment):
        said = sentence(divergence, engines)
        why = cause_sentence(cause, engines) if cause else ""
        named = " ".join((divergence.ends[0].source, divergence.ends[1].source, said))
        if not planted.lines.intersection(lines_told(named, planted)):
            found.setdefault("elsewhere", f"{said} {why}")
            continue
        verdict: Verdict = "place"
        if any(is_true(fact, divergence, cause) for fact in mistake.facts):
            verdict = "cause"
        elif cause is not None:
            verdict = "other cause"
        found.setdefault(verdict, f"{said} {why}")
    order: tuple[Verdict, ...] = ("cause", "other cause", "place", "elsewhere")
    for verdict in order:
        if verdict in found:
            return Told(verdict, found[verdict])
    raise AssertionError("every divergence has a verdict")


def _named(alignment: Alignment) -> Iterator[tuple[Divergence, Cause | None]]:
    """All divergences with their causes, and then those that are seen as if these were mended."""
    for one in alignment.seen:
        yield one.divergence, one.cause


# What is said, as facts


def is_true(fact: Fact, divergence: Divergence, cause: Cause | None) -> bool:
    """Whether a divergence with its cause states a fact."""
    if any(fact.kind == stated.kind and _agree(fact, stated) for stated in _structure(divergence)):
        return True
    if cause is None:
        return False
    all_stated = chain(_stated(cause, divergence), _written(cause))
    return any(fact.kind == stated.kind and _agree(fact, stated) for stated in all_stated)


def _agree(fact: Fact, stated: Fact) -> bool:
    """Whether all that both give is the same."""
    if fact.argument and stated.argument:
        names = {fact.argument, *map(_plain, fact.values)} - {None}
        return not names.isdisjoint({stated.argument, *map(_plain, stated.values)})
    if fact.factor and stated.factor:
        factors = stated.factor, 1 / stated.factor
        return any(math.isclose(fact.factor, factor, rel_tol=1e-4) for factor in factors)
    if fact.op and stated.op:
        return _are_one(fact.op, stated.op)
    return True


def _are_one(op: str, other: str) -> bool:
    """Whether two names are of one operator: "smooth_l1_loss", "aten.smooth_l1_loss.default"."""
    one, second = (re.sub(r"^aten\.|\.\w+$|_", "", name).lower() for name in (op, other))
    return family(one) == family(second) or one in second or second in one


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return value if isinstance(value, (int, str, tuple)) and not isinstance(value, bool) else None


def _structure(divergence: Divergence) -> Iterator[Fact]:
    """What the kind of a divergence states."""
    if isinstance(divergence, GradientStopped) or divergence.phase == "backward":
        if isinstance(divergence, (GradientStopped, GradientAdded)):
            yield Fact("stopped gradient")
    elif isinstance(divergence, GradientAdded):
        yield Fact("op left out", op="add")
        yield Fact("op added", op="add")
    if isinstance(divergence, LoneLeaf):
        yield Fact("bias")
        yield Fact("tied weight")
    if isinstance(divergence, OtherStart):
        yield Fact("start")
    if isinstance(divergence, Rounded):
        yield Fact("cast")
    if isinstance(divergence, ExtraOps):
        for kind in ("op left out", "op added"):
            yield Fact(kind, op=divergence.row.last)
            yield Fact(kind, op=divergence.row.first.label)


def _stated(cause: Cause, divergence: Divergence) -> Iterator[Fact]:
    """What a cause states."""
    for edit in cause.edits:
        match edit:
            case SetArguments():
                yield from _arguments(edit, cause)
            case ReplaceOperator(op=op):
                yield Fact("other op", op=op)
                yield Fact("other op", op=cause.op)
            case RemoveOperator(later=later):
                for kind in ("op left out", "op added"):
                    yield Fact(kind, op=cause.op)
                if later:
                    yield Fact("order of ops", op=cause.op)
            case InsertOperator(slots=()):
                yield from _behind(edit, cause)
            case InsertOperator():
                for kind in AT_INPUTS.get(edit.op, ()):
                    yield Fact(kind)
                if edit.op == "mul":
                    yield Fact("factor", factor=edit.number)
            case Rewire():
                yield from map(Fact, _rewired(edit, cause.edits))


def _written(cause: Cause) -> Iterator[Fact]:
    """What is to be written states."""
    for mend in cause.mends:
        for name, value in mend.arguments.items():
            yield Fact("argument", argument=name, values=(value,))


LIMITS: dict[tuple[str, object], tuple[tuple[str, str], ...]] = {
    ("beta", 0.0): (("smooth_l1_loss", "l1_loss"),)
}
"""Arguments with which one operator is another one, by name and value: smooth L1 with a beta of 0 is L1."""


def _arguments(edit: SetArguments, cause: Cause) -> Iterator[Fact]:
    for name, value in edit.arguments.items():
        values = (value, edit.own.get(name))
        yield Fact("argument", argument=name, values=values)
        yield Fact("constant", values=values)
        own = edit.own.get(name)
        if isinstance(value, (int, float)) and isinstance(own, (int, float)) and value and own:
            yield Fact("factor", factor=value / own)
        if name in ("dim", "axis"):
            yield Fact("axis", op=cause.op)
        for operator, limit in LIMITS.get((name, value), ()):
            if _are_one(operator, cause.op):
                yield Fact("other op", op=limit)
                yield Fact("other op", op=operator)
        if "pad" in name:
            yield Fact("padding")
        if name == "diagonal":
            yield Fact("mask")
        if name == "reduction":
            yield Fact("other op")
        if name in ("start", "end", "index", "shifts", "start_indices"):
            yield Fact("shift")
        if name in ("training", "momentum"):
            yield Fact("mode")
            yield Fact("state")


AT_INPUTS: dict[str, tuple[str, ...]] = {
    "cast": ("cast",),
    "pad": ("padding",),
    "not": ("mask",),
    "roll": ("shift", "op left out", "layout", "rows in another order"),
    "swap_axes": ("op left out", "layout", "rows in another order"),
    "reshape": ("layout",),
    "flip": ("op left out", "layout", "rows in another order"),
}
"""What an operator at an input states by itself."""


def _rewired(edit: Rewire, edits: Edits) -> tuple[str, ...]:
    """What another input states by itself."""
    match edit.source:
        case FromSlot():
            return ("order of inputs",)
        case FromThere(label=label):
            # Beside other arguments the inputs alone say nothing.
            start = ("start",) if family(label.split(" ")[0]) == "fill" else ()
            is_beside = isinstance(edits[-1], SetArguments)
            return () if is_beside else ("constant", "other input", *start)
        case Zeros(is_filled=is_filled):
            return ("start",) if is_filled else ()
        case FromLeaf(is_one_tensor=is_one_tensor):
            return () if is_one_tensor else ("tied weight", "other input")
        case FromNode():
            if not edit.slots:
                return ("order of inputs", "other input")
            if any(it.node != edit.node for it in edits):
                are_exchanged = form_of(edits) == "inputs"
                return ("order of inputs", "other input") if are_exchanged else ("order of ops",)
            return ("other input", "order of inputs", "steps", "rows in another order")


PLAIN = {"roll": ("shift",), "fill": ("mask",), "where": ("mask",), "cast": ("cast",)}
"""What an operator behind an op states by itself."""

LAYOUTS = {"transpose", "regroup", "roll", "flip", "rows", "blocks"}

MORE = {"add": ("add",), "sub": ("add", "sub"), "mul": ("mul",)}
"""The operators that one side has more, by how a value follows from the other one."""


def _behind(edit: InsertOperator, cause: Cause) -> Iterator[Fact]:
    """What an operator behind an op states."""
    if edit.op in ("mul", "temper") and edit.factor:
        yield Fact("factor", factor=edit.number)
        yield Fact("op left out", op="mul")
        yield Fact("op added", op="mul")
        if edit.number < 0:
            yield Fact("order of inputs")
            yield Fact("other op", op="sub")
    if edit.op == "add" and edit.factor:
        yield Fact("offset")
    for op in MORE.get(edit.op, ()) if edit.name else ():
        yield Fact("op left out", op=op)
        yield Fact("op added", op=op)
    if edit.op in ("add", "sub") and edit.name:
        yield Fact("bias")
    if edit.op == "function":
        for kind in ("other op", "op left out", "op added"):
            yield Fact(kind, op=edit.name)
            yield Fact(kind, op=cause.op)
    if edit.op in LAYOUTS:
        yield Fact("layout")
        yield Fact("rows in another order")
        yield Fact("order of inputs")
        yield Fact("other input")
    for kind in PLAIN.get(edit.op, ()):
        yield Fact(kind)
