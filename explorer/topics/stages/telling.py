"""What the figures of the study of stages say: findings, tables and charts; no framework here."""

import re
from collections.abc import Mapping
from typing import Any

from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.stages.passes import LAST, PHASES
from explorer.topics.studying import Telling

STEP = re.compile(r"^(\w+?)_r(\d+)_j\d+_\d+_(.+?)_*$")
WITHIN = re.compile(r"^(\w+)\.r(\d+)\.(\w+)\.(\w+)$")
MOST = 4
"""How many kinds of operators a cell names."""

MEANING = {
    "bootstrap": "the call alone, before anything is known of it",
    "type_inference": "every function that the call reaches, with types and shapes",
    "auto_monad": "effects put in order",
    "meta_fg_expand": "the derivative written out: a forward closure ▸ and a backpropagator ◂ for each operator",
    "renormalize": "types and shapes inferred anew",
    "a_1": "calls inlined, and what cancels removed",
    "cse": "equal expressions merged",
    "merge_addn": "nested sums merged",
    "updatestate_depend_eliminate": "order dropped where nothing depends on it",
    "updatestate_loads_eliminate": "order dropped where nothing depends on it",
    LAST: "what goes to the backend",
}
"""What the passes are for, by the last part of their names."""

FORMS = {
    "torch": "PyTorch's tape",
    "mindspore-tape": "MindSpore's tape",
    "mindspore-graph": "MindSpore's graph",
}
FLIPPED = ("inputs times 1", "inputs times -1")
Figures = Mapping[str, Any]


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    gradient, training = (
        evidence.get(f"stages.{name}_passes.mindspore-graph") or {}
        for name in ("gradient", "training")
    )
    findings = [
        *_about_passes(gradient),
        *_about_training(gradient, training),
        *_about_values(evidence),
        *_about_loops(evidence),
    ]
    tables = [
        *_passes("The gradient through the passes", gradient),
        *_passes("A whole training step through the passes", training),
        _values(evidence),
        _loops(evidence),
    ]
    charts = (*_nodes("gradient-passes", "Nodes after each pass: a gradient", gradient),
              *_nodes("training-passes", "Nodes after each pass: a training step", training), *_lengths(evidence))  # fmt: skip
    return Telling(findings=tuple(findings), tables=tuple(tables), charts=charts)


# Passes


def readable(name: str) -> str:
    """A pass's name without its numbers: "opt_a, round 1: meta_fg_expand"."""
    step, within = STEP.match(name), WITHIN.match(name)
    if step:
        return f"{step[1]}, round {step[2]}: {step[3]}"
    return f"{within[1]}, round {within[2]}: {within[4]}" if within else name


def changes(figures: Figures) -> list[dict[str, Any]]:
    """The passes that changed the operators of a program, and the first and last pass whether or
    not they did.
    """
    rows = figures["passes"]
    return [row for row in rows if row["appeared"] or row["vanished"] or row in (rows[0], rows[-1])]


def total(row: Figures) -> int:
    """All nodes after a pass."""
    return sum(row[name] for name in PHASES)


def computing(row: Figures) -> int:
    """The nodes after a pass that compute something."""
    return total(row) - int(row["bookkeeping"])


def _about_passes(figures: Figures) -> list[str]:
    if not figures:
        return []
    rows, last = figures["passes"], figures["passes"][-1]
    changed = [row for row in rows if row["appeared"] or row["vanished"]]
    largest = max(rows, key=total)
    written = len(figures["written"])
    return [
        f"The net's author wrote {_count(written, 'call')}; the graph of its gradient ends with {computing(last)} operators, "
        f"{last['forward']} of the forward and {last['backward']} of the backward, beside {last['bookkeeping']} nodes of "
        f"bookkeeping, and runs as {_count(figures['kernels'], 'kernel')}.",
        f"{len(rows)} passes and steps were written down, and {len(changed)} of them changed an operator; the program was "
        f"largest after “{readable(largest['pass'])}”, with {total(largest)} nodes in {_count(largest['graphs'], 'graph')}, and "
        f"ended with {total(last)} in {last['graphs']}.",
    ]


def _about_training(gradient: Figures, training: Figures) -> list[str]:
    if not training:
        return []
    last = training["passes"][-1]
    text = (
        f"With the optimizer inside, one graph holds {_count(last['forward'], 'operator')} of the forward, {last['backward']} of "
        f"the backward and {last['update']} of the update, and runs as {_count(training['kernels'], 'kernel')}"
    )
    if gradient:
        alone = gradient["passes"][-1]
        text += f"; the gradient by the input and the weights alone has {computing(alone)} operators, {alone['update']} of an update"
    return [f"{text}."]


def _passes(title: str, figures: Figures) -> list[Table]:
    if not figures:
        return []
    present = [phase for phase in PHASES if any(row[phase] for row in figures["passes"])]
    rows = [
        (
            readable(row["pass"]),
            *(row[phase] for phase in present),
            row["graphs"],
            _listed(row["appeared"]),
            _listed(row["vanished"]),
            MEANING.get(readable(row["pass"]).rpartition(": ")[2], ""),
        )
        for row in changes(figures)
    ]
    unchanged = len(figures["passes"]) - len(rows)
    note = f"Passes that changed an operator; {unchanged} more left all operators as they were."
    columns = ("pass", *present, "graphs", "appeared", "vanished", "what it is")
    return [Table(title=title, columns=columns, rows=tuple(rows), note=note)]


def _listed(operators: Mapping[str, int]) -> str:
    most = sorted(operators.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{count} {name}" for name, count in most[:MOST])
    rest = sum(count for _, count in most[MOST:])
    return f"{shown}, {rest} others" if rest else shown


def _nodes(name: str, title: str, figures: Figures) -> tuple[Chart, ...]:
    if not figures:
        return ()
    rows = changes(figures)
    names = tuple(
        f"{number} {readable(row['pass']).rpartition(': ')[2]}"
        for number, row in enumerate(rows, 1)
    )
    present = [phase for phase in PHASES if any(row[phase] for row in rows)]
    series = tuple(
        Series(phase, names, tuple(float(row[phase]) for row in rows)) for phase in present
    )
    largest = max(rows, key=total)
    note = f"The largest is {total(largest)} nodes after “{readable(largest['pass'])}”. Only passes that changed something."
    return (
        Chart(name=name, title=title, kind="line", x="pass", y="nodes", series=series, note=note),
    )


# Values


def _about_values(evidence: Evidence) -> list[str]:
    return [
        *_about_flipped(evidence, "other_values", "the scenario"),
        *_about_flipped(evidence, "branch", "the branch on a value"),
    ]


def _about_flipped(evidence: Evidence, question: str, where: str) -> list[str]:
    found = []
    graph = evidence.get(f"stages.{question}.mindspore-graph")
    if graph:
        one, other = (graph[name] for name in FLIPPED)
        same = (
            "is the same program"
            if one["fingerprint"] == other["fingerprint"]
            else "is another program"
        )
        again = sum(each["compiled again"] for each in (one, other))
        found.append(
            f"On {where}, the graph compiled for the negated inputs {same} ({computing(one)} and {computing(other)} operators); "
            f"calling a compiled graph with other values compiled it again {again} times out of 2."
        )
    for engine in ("torch", "mindspore-tape"):
        tape = evidence.get(f"stages.{question}.{engine}")
        if tape:
            one, other = (tape[name]["tape"] for name in FLIPPED)
            told = "the same nodes" if one == other else "other nodes"
            found.append(
                f"{FORMS[engine]} on {where} records {told} for the negated inputs: {len(one)} and {len(other)}."
            )
    return found


def _values(evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for question, where in (("other_values", "the scenario"), ("branch", "a branch on a value")):
        for engine, form in FORMS.items():
            figures = evidence.get(f"stages.{question}.{engine}")
            cells = tuple(_contents(figures[name]) for name in FLIPPED) if figures else ("-", "-")
            rows.append(
                (
                    where,
                    form,
                    *cells,
                    _same(figures) or _why(evidence, f"stages.{question}.{engine}"),
                )
            )
        torch = evidence.get(f"stages.{question}.torch")
        cells = tuple(_joint(torch[name]["joint"]) for name in FLIPPED) if torch else ("-", "-")
        alike = (
            _yes(cells[0] == cells[1]) if torch and not raised(torch[FLIPPED[0]]["joint"]) else "-"
        )
        rows.append((where, "PyTorch's joint graph", *cells, alike))
    return Table(
        title="What depends on the values",
        columns=("program", "form", "for the inputs", "for their negatives", "same"),
        rows=tuple(rows),
        note="A tape holds what ran for these values. A graph holds what may run: both sides of a branch.",
    )


def _contents(figures: Figures) -> str:
    if "tape" in figures:
        return _listed({name: figures["tape"].count(name) for name in figures["tape"]})
    return f"{figures['forward']} forward, {figures['backward']} backward, {_count(figures['graphs'], 'graph')}"


def _joint(figures: Any) -> str:
    return (
        refusal(figures)
        if raised(figures)
        else f"{len(figures['forward'])} forward, {len(figures['backward'])} backward"
    )


def refusal(figure: Any) -> str:
    """What was raised, with the first sentence of why."""
    return said(figure).partition(" Explanation: ")[0]


def _same(figures: Figures | None) -> str:
    if not figures:
        return ""
    one, other = (figures[name] for name in FLIPPED)
    return _yes(
        one["tape"] == other["tape"]
        if "tape" in one
        else one["fingerprint"] == other["fingerprint"]
    )


# Loops


def by_length(evidence: Evidence) -> dict[str, dict[str, int | None]]:
    """How many nodes each form of the loop has for every length; a compiled loop serves the lengths
    after the first as it is.
    """
    found: dict[str, dict[str, int | None]] = {}
    for engine, form in FORMS.items():
        figures = evidence.get(f"stages.loops.{engine}")
        if figures:
            size: int | None = None
            counted: dict[str, int | None] = {}
            for length, each in figures["while"].items():
                size = (
                    len(each)
                    if isinstance(each, list)
                    else computing(each)
                    if each["compiled"]
                    else size
                )
                counted[length] = size
            found[form] = counted
    return found


def _about_loops(evidence: Evidence) -> list[str]:
    found = []
    for form, counted in by_length(evidence).items():
        lengths, sizes = list(counted), list(counted.values())
        grows = (
            f"stays at {sizes[0]}"
            if sizes[0] == sizes[-1]
            else f"grows from {sizes[0]} to {sizes[-1]}"
        )
        found.append(
            f"{form} of a loop whose length is a value {grows} nodes from length {lengths[0]} to {lengths[-1]}."
        )
    torch = evidence.get("stages.loops.torch")
    if torch and raised(torch["joint while"]):
        found.append(
            f"PyTorch's joint graph of that loop cannot be captured: {refusal(torch['joint while'])}."
        )
    return found


def _loops(evidence: Evidence) -> Table:
    counted = by_length(evidence)
    lengths = list(dict.fromkeys(length for each in counted.values() for length in each))
    rows: list[tuple[Cell, ...]] = []
    for engine, form in FORMS.items():
        figures = evidence.get(f"stages.loops.{engine}")
        if not figures:
            rows.append((form, *("-" for _ in lengths), _why(evidence, f"stages.loops.{engine}")))
            continue
        fixed = figures["for"]
        size = len(fixed) if isinstance(fixed, list) else computing(fixed)
        rows.append((form, *(counted[form][length] for length in lengths), size))
    torch = evidence.get("stages.loops.torch")
    if torch:
        both = torch["joint for"]
        joint = refusal(both) if raised(both) else len(both["forward"]) + len(both["backward"])
        cell = torch["joint while"]["raised"] if raised(torch["joint while"]) else "captured"
        rows.append(("PyTorch's joint graph", *(cell for _ in lengths), joint))
    return Table(
        title="A loop: one body in the graph, unrolled on the tape",
        columns=("form", *(f"while, {length} times" for length in lengths), "for, 4 times"),
        rows=tuple(rows),
        note="Nodes of the tape, or operators of the graph, forward and backward. “while” runs on a value, “for” on a constant, "
        "which a compiler unrolls too.",
    )


def _lengths(evidence: Evidence) -> tuple[Chart, ...]:
    counted = by_length(evidence)
    if not counted:
        return ()
    series = tuple(
        Series(form, tuple(map(float, each)), tuple(size and float(size) for size in each.values()))
        for form, each in counted.items()
    )
    title = "Nodes of a loop whose length is a value"
    ends = {
        form: (next(iter(each.values())), list(each.values())[-1]) for form, each in counted.items()
    }
    note = "; ".join(f"{form}: from {low} to {high}" for form, (low, high) in ends.items())
    return (
        Chart(
            name="loop-length",
            title=title,
            kind="line",
            x="turns of the loop",
            y="nodes",
            series=series,
            note=note,
        ),
    )


def _why(evidence: Evidence, name: str) -> str:
    failure = evidence.failures.get(name)
    return f"{failure.type}: {failure.message}" if failure else "not measured"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
