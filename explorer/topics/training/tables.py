"""The tables of the study of training steps: routes, update rules, decay, groups, clipping,
accumulation, dispatches, times.
"""

from typing import Any

from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.training.comparing import (
    LABELS,
    NEAR,
    REFERENCE,
    added_up,
    apart,
    farthest,
    framework,
    states,
    unlike,
    updates,
)
from explorer.topics.training.given import STEPS

Row = tuple[Cell, ...]
WHOSE = {"mindspore": "MindSpore", "torch": "PyTorch"}


def all_of(evidence: Evidence) -> tuple[Table, ...]:
    """Every table, in the order in which they are read."""
    made = (
        routes(evidence),
        pairs(evidence),
        update_rules(evidence),
        decay(evidence),
        groups(evidence),
        telling_of_themselves(evidence),
        clipping(evidence),
        accumulation(evidence),
        dispatches(evidence),
        times(evidence),
    )
    return tuple(table for table in made if table.rows)


def routes(evidence: Evidence) -> Table:
    """How far each route is from PyTorch's loop after every step."""
    found = states(evidence)
    reference = found.get(REFERENCE)
    rows: list[Row] = []
    for name, label in LABELS.items():
        if reference is None or name not in found:
            rows.append((framework(name), label, *[None] * STEPS, _why(evidence, name)))
            continue
        steps = apart(found[name], reference)
        most = farthest(found[name], reference) if max(steps) > NEAR else ""
        rows.append((framework(name), label, *steps, f"parts: {most}" if most else "same"))
    return Table(
        title="Every way to take a step, against zero_grad, backward, step",
        columns=("framework", "route", *(f"step {step + 1}" for step in range(STEPS)), "verdict"),
        rows=tuple(rows),
        note="The greatest difference of any weight or running statistic after each of five steps of SGD on conv + batch norm.",
    )


def _why(evidence: Evidence, name: str) -> str:
    figure = evidence.get(name, {})
    if raised(figure):
        return said(figure)
    failure = evidence.failures.get(name)
    return failure.message if failure else "not measured"


def pairs(evidence: Evidence) -> Table:
    """The greatest difference of any two routes over all steps; routes that agree to the last bit
    stand in one row.
    """
    found = states(evidence)
    kinds: list[list[str]] = []
    for name in found:
        alike = next((kind for kind in kinds if max(apart(found[name], found[kind[0]])) == 0), None)
        if alike is None:
            kinds.append([name])
        else:
            alike.append(name)
    return Table(
        title="Any two routes: the greatest difference over five steps",
        columns=("route", *(str(number + 1) for number in range(len(kinds)))),
        rows=tuple(
            (
                f"{number + 1}: {_kind(kind)}",
                *(max(apart(found[kind[0]], found[other[0]])) for other in kinds),
            )
            for number, kind in enumerate(kinds)
        ),
        note="Routes that agree to the last bit stand together.",
    )


def _kind(names: list[str]) -> str:
    """One name, or how many of which framework."""
    if len(names) == 1:
        return f"{framework(names[0])}, {LABELS[names[0]]}"
    counts = {
        whose: sum(framework(name) == whose for name in names)
        for whose in sorted(map(framework, names))
    }
    return " and ".join(f"{count} of {whose}" for whose, count in counts.items())


def update_rules(evidence: Evidence) -> Table:
    """One row an update rule: who has it, and how far it is from PyTorch's after five given
    gradients.
    """
    return Table(
        title="Update rules on five given gradients",
        columns=(
            "rule",
            "mindspore.nn",
            "experimental",
            "torch.optim",
            "nn apart",
            "experimental apart",
            "verdict",
        ),
        rows=tuple(
            (
                each.name,
                *(each.forms.get(place, "-") for place in ("nn", "experimental", "torch")),
                each.apart.get("nn"),
                each.apart.get("experimental"),
                "; ".join(f"{place} refused: {message}" for place, message in each.refused.items())
                or ("same" if each.same else "parts" if each.apart else "MindSpore alone"),
            )
            for each in updates(evidence)
        ),
        note="With the same settings where both have them; the greatest difference of the weight over all five.",
    )


def decay(evidence: Evidence) -> Table:
    """What weight decay takes from weights that are 1 when the gradient is 0."""
    everything = {
        **evidence.get("training.weight_decay.mindspore", {}),
        **evidence.get("training.weight_decay.torch", {}),
    }
    rows: list[Row] = []
    for name, found in everything.items():
        default, decayed = found["default"], found["0.1"]
        if raised(default) or raised(decayed):
            rows.append((name, *[None] * 4, said(default if raised(default) else decayed)))
        else:
            left = (decayed[weight] for weight in ("fc.weight", "norm.gamma", "norm.beta"))
            rows.append((name, default["fc.weight"], *left, ""))
    return Table(
        title="Weight decay: what is left of a 1 after one step with gradient 0",
        columns=(
            "optimizer",
            "weight by default",
            "weight, decay 0.1",
            "gamma, decay 0.1",
            "beta, decay 0.1",
            "refused",
        ),
        rows=tuple(rows),
    )


def groups(evidence: Evidence) -> Table:
    """What a parameter group takes, and what it does to the first of two weights."""
    found = {
        **evidence.get("training.groups.mindspore", {}),
        **evidence.get("training.groups.torch", {}),
    }
    grown = {
        **evidence.get("training.add_param_group.mindspore", {}),
        **evidence.get("training.add_param_group.torch", {}),
    }
    places = list(found)
    settings = list(dict.fromkeys(name for each in found.values() for name in each))
    rows = [(name, *(_taken(found[place].get(name)) for place in places)) for name in settings]
    optimizers = list(dict.fromkeys(name for each in grown.values() for name in each))
    rows += [
        (f"add_param_group, {name}", *(_taken(grown[place].get(name)) for place in grown))
        for name in optimizers
    ]
    return Table(
        title="Parameter groups: a setting of its own for the first of two weights",
        columns=("setting", *places),
        rows=tuple(rows),
        note="The first weight beside the second after two steps of SGD; after one step where a group was added.",
    )


def _taken(figure: Any) -> str:
    if figure is None:
        return "-"
    if raised(figure):
        return said(figure)
    first, second = (
        ", ".join(f"{value:.4g}" for value in figure[key]) for key in ("first", "second")
    )
    return f"[{first}] beside [{second}]" + ("" if first != second else ": no effect")


def telling_of_themselves(evidence: Evidence) -> Table:
    """The methods of an optimizer and the names in its state_dict."""
    found = {
        **evidence.get("training.told.mindspore", {}),
        **evidence.get("training.told.torch", {}),
    }
    asked = {place: each for place, each in found.items() if isinstance(each, dict)}
    methods = list(dict.fromkeys(name for each in asked.values() for name in each["has"]))
    rows: list[Row] = [
        (name, *("yes" if each["has"].get(name) else "no" for each in asked.values()))
        for name in methods
    ]
    if asked:
        rows.append(
            ("names in state_dict", *(_listed(each["state_dict"]) for each in asked.values()))
        )
    return Table(
        title="What an SGD optimizer tells of itself", columns=("", *asked), rows=tuple(rows)
    )


def _listed(figure: Any) -> str:
    return said(figure) if raised(figure) else ", ".join(figure)


def clipping(evidence: Evidence) -> Table:
    """Clipped gradients side by side."""
    ours, theirs = (evidence.get(f"training.clipping.{name}", {}) for name in WHOSE)
    rows: list[Row] = []
    if ours and theirs:
        rows.append(
            ("by norm, default", str(ours["by default"]), f"default: {theirs['default']}", None)
        )
        for norm, each in ours["by norm"].items():
            other = theirs["by norm"][norm]["gradients"]
            rows.append((f"by norm {norm}", str(each), str(other), unlike(each, other)))
        value = (ours["by value"], theirs["by value"])
        rows.append(("by value", str(value[0]), str(value[1]), unlike(*value)))
    return Table(
        title="Clipping gradients [3, 4] and [12], whose norm is 13",
        columns=("how", "MindSpore", "PyTorch", "difference"),
        rows=tuple(rows),
    )


def accumulation(evidence: Evidence) -> Table:
    """Four micro-batches against the whole batch."""
    rows: list[Row] = []
    for norm, what in (("", "batch norm in inference"), ("_batch_norm", "batch norm in training")):
        for name, whose in WHOSE.items():
            figures = evidence.get(f"training.accumulation{norm}.{name}", {})
            for kind in figures:
                off = added_up(figures, kind)
                rows.append((what, whose, kind, off["added"], off["divided"]))
    return Table(
        title="Four micro-batches against one batch: how far the gradients are off",
        columns=("net", "framework", "loss", "sum of gradients", "sum divided by 4"),
        rows=tuple(rows),
    )


def dispatches(evidence: Evidence) -> Table:
    """How many operators or graphs a step is."""
    rows: list[Row] = []
    for name, whose in WHOSE.items():
        for part, ops in evidence.get(f"training.dispatches.{name}", {}).items():
            kinds = dict.fromkeys(op.removeprefix("aten.") for op in ops)
            rows.append(
                (f"{whose}, tape", f"operators of {part}", len(ops), ", ".join(kinds) or "none")
            )
    for way, each in evidence.get("training.graphs.mindspore", {}).items():
        for number, counts in enumerate(each):
            shown = ", ".join(f"{count} {part}" for part, count in counts.items() if count)
            rows.append(
                (
                    f"MindSpore, {way}",
                    f"nodes of graph {number + 1} of {len(each)}",
                    sum(counts.values()),
                    shown,
                )
            )
    for name in ("training.compiled.torch", "training.inductor.torch"):
        found = evidence.get(name, {})
        if "graphs" in found:
            breaks = "; ".join(f"{count} × {reason}" for reason, count in found["breaks"].items())
            rows.append((LABELS[name], "graphs", found["graphs"], f"breaks: {breaks or 'none'}"))
    return Table(
        title="What one step is carried out as",
        columns=("where", "what", "count", "which"),
        rows=tuple(rows),
    )


def times(evidence: Evidence) -> Table:
    """First calls and repeated steps, in milliseconds."""
    rows: list[Row] = []
    for name, who in (
        ("training.speed.mindspore", "MindSpore, tape"),
        ("training.speed.torch", "PyTorch"),
    ):
        measured = evidence.measured.get(name)
        for way, seconds in measured.timings.items() if measured else ():
            rows.append((who, way, round(seconds * 1000, 3)))
    return Table(
        title="Time of a step",
        columns=("where", "way", "milliseconds"),
        rows=tuple(rows),
        note="Repeated steps: the least processor time, taken in turn.",
        timing=True,
    )
