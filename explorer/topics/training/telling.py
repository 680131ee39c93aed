"""What the study of training steps tells: which routes agree, which update rules part, and what a
step is carried out as.
"""

from explorer.model.study import Chart, Series
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.studying import Telling
from explorer.topics.training import tables
from explorer.topics.training.comparing import (
    LABELS,
    NEAR,
    REFERENCE,
    added_up,
    apart,
    decays,
    farthest,
    framework,
    states,
    unlike,
    updates,
)


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    charts = (_routes_chart(evidence), _updates_chart(evidence), _times_chart(evidence))
    return Telling(
        findings=(
            *_of_routes(evidence),
            *_of_updates(evidence),
            *_of_names(evidence),
            *_of_momentum(evidence),
            *_of_decay(evidence),
            *_of_groups(evidence),
            *_of_gradients(evidence),
            *_of_parameters(evidence),
            *_of_dispatches(evidence),
        ),
        tables=tables.all_of(evidence),
        charts=tuple(chart for chart in charts if chart.series),
    )


def _of_routes(evidence: Evidence) -> list[str]:
    found = states(evidence)
    reference = found.get(REFERENCE)
    if reference is None:
        return []
    off = {name: max(apart(each, reference)) for name, each in found.items() if name != REFERENCE}
    near = [name for name, most in off.items() if most <= NEAR]
    most = max((off[name] for name in near), default=0.0)
    told = [
        f"{len(near)} of {len(off)} ways to take a step leave the weights of PyTorch's zero_grad, backward, step after each of"
        f" {len(reference)} steps (greatest difference {most:.1e})."
    ]
    for name, most in off.items():
        if most > NEAR:
            weight = farthest(found[name], reference)
            told.append(
                f"{framework(name)}'s {LABELS[name]} parts by {most:.2g}, most of all in {weight}."
            )
    told += [
        f"{LABELS[name]} is refused: {said(evidence[name])}"
        for name in LABELS
        if raised(evidence.get(name, {}))
    ]
    captured = evidence.get("training.functional.torch", {}).get("statistics captured")
    if raised(captured):
        told.append(
            f"torch.func.grad with the running statistics left in the module is refused: {said(captured)}"
        )
    return told


def _of_updates(evidence: Evidence) -> list[str]:
    found = updates(evidence)
    compared = [each for each in found if each.apart]
    if not compared:
        return []
    same = [each for each in compared if each.same]
    told = [
        f"{len(same)} of {len(compared)} update rules give PyTorch's weights on five given gradients in all their forms."
    ]
    told += [
        f"{each.name}: {place} {each.forms[place]} parts from torch.optim.{each.forms['torch']} by {off:.2g}."
        for each in compared
        for place, off in each.apart.items()
        if off > NEAR
    ]
    return told + [
        f"{each.forms[place]} is refused: {message}"
        for each in found
        for place, message in each.refused.items()
    ]


def _of_names(evidence: Evidence) -> list[str]:
    ours, theirs = (
        evidence.get("training.optimizers.mindspore", {}),
        evidence.get("training.optimizers.torch", {}),
    )
    if not ours or not theirs:
        return []
    mine = {name.lower(): name for name in (*ours["nn"], *ours["experimental"])}
    other = {name.lower(): name for name in theirs["torch"]}
    return [
        f"Optimizers by name: {len(ours['nn'])} in mindspore.nn, {len(ours['experimental'])} in mindspore.experimental.optim,"
        f" {len(theirs['torch'])} in torch.optim; PyTorch alone: {_only(other, mine)}; MindSpore alone: {_only(mine, other)}."
    ]


def _only(these: dict[str, str], those: dict[str, str]) -> str:
    return ", ".join(sorted(these[key] for key in set(these) - set(those))) or "none"


def _of_momentum(evidence: Evidence) -> list[str]:
    paths = evidence.get("training.momentum.mindspore", {})
    off = [greatest_difference(one, other) for one in paths.values() for other in paths.values()]
    return (
        [
            f"Momentum from small operators and the fused ApplyMomentum are at most {max(off):.1e} apart over five steps."
        ]
        if off
        else []
    )


def _of_decay(evidence: Evidence) -> list[str]:
    everything = {
        **evidence.get("training.weight_decay.mindspore", {}),
        **evidence.get("training.weight_decay.torch", {}),
    }
    if not everything:
        return []
    spared: dict[str, list[str]] = {}
    for name, found in everything.items():
        if not raised(found["0.1"]):
            kept = ", ".join(weight for weight, value in found["0.1"].items() if value == 1.0)
            spared.setdefault(kept or "nothing", []).append(name)
    by_default = [name for name, found in everything.items() if decays(found["default"])]
    return [
        *(
            f"weight_decay=0.1 spares {weights} in {', '.join(names)}."
            for weights, names in spared.items()
        ),
        f"Optimizers that decay by default: {', '.join(by_default) or 'none'}.",
    ]


def _of_groups(evidence: Evidence) -> list[str]:
    places = {
        **evidence.get("training.groups.mindspore", {}),
        **evidence.get("training.groups.torch", {}),
    }
    told = []
    for place, found in places.items():
        refused = [name for name, each in found.items() if raised(each)]
        idle = [
            name
            for name, each in found.items()
            if not raised(each) and each["first"] == each["second"]
        ]
        told.append(
            f"Groups of {place}: refused: {'; '.join(refused) or 'nothing'}; without effect: {'; '.join(idle) or 'nothing'}."
        )
    grown = {
        **evidence.get("training.add_param_group.mindspore", {}),
        **evidence.get("training.add_param_group.torch", {}),
    }
    for place, found in grown.items():
        for names, each in found.items():
            message = said(each) if raised(each) else "both weights move"
            told.append(f"add_param_group of {place}.{names}, and a step after it: {message}")
    return told


def _of_gradients(evidence: Evidence) -> list[str]:
    told = []
    ours, theirs = (evidence.get(f"training.clipping.{name}", {}) for name in tables.WHOSE)
    if ours and theirs:
        off = max(
            unlike(each, theirs["by norm"][norm]["gradients"])
            for norm, each in ours["by norm"].items()
        )
        names = f"clip_by_global_norm (default {ours['default']}) and clip_grad_norm_ (default {theirs['default']})"
        told.append(f"{names} are at most {off:.1e} apart.")
    for norm, what in (("", "in inference"), ("_batch_norm", "in training")):
        for name, whose in tables.WHOSE.items():
            figures = evidence.get(f"training.accumulation{norm}.{name}", {})
            if figures:
                mean, total = added_up(figures, "mean"), added_up(figures, "sum")
                told.append(
                    f"Four micro-batches in {whose}, batch norm {what}: with a mean as the loss their added gradients are off by"
                    f" {mean['added']:.1e}, and by {mean['divided']:.1e} divided by 4; with a sum by {total['added']:.1e}."
                )
    return told


def _of_parameters(evidence: Evidence) -> list[str]:
    told = []
    ours, theirs = (evidence.get(f"training.filtered.{name}", {}) for name in tables.WHOSE)
    if ours and theirs:
        told.append(
            f"trainable_params() is a {ours['type']}, parameters() a {theirs['type']}; given only {', '.join(ours['chosen'])},"
            f" MindSpore's step moves {', '.join(ours['moved'])} and PyTorch's {', '.join(theirs['moved'])}."
        )
    for style, figure in evidence.get("training.scaled_step.mindspore", {}).items():
        outcome = said(figure) if raised(figure) else f"loss {figure}"
        told.append(f"TrainOneStepWithLossScaleCell, {style}: {outcome}")
    return told


def _of_dispatches(evidence: Evidence) -> list[str]:
    told = []
    for name, whose in tables.WHOSE.items():
        found = evidence.get(f"training.dispatches.{name}", {})
        if found:
            counts = ", ".join(f"{part} {len(ops)}" for part, ops in found.items())
            told.append(f"{whose}, tape: operators dispatched in a step: {counts}.")
    for way, each in evidence.get("training.graphs.mindspore", {}).items():
        kinds = " and ".join(
            "+".join(part for part in ("forward", "backward", "update") if counts[part])
            for counts in each
        )
        nodes = " + ".join(str(sum(counts.values())) for counts in each)
        told.append(
            f"MindSpore, {way}: graphs compiled for a step: {len(each)} ({kinds}; {nodes} nodes)."
        )
    for name in ("training.compiled.torch", "training.inductor.torch"):
        found = evidence.get(name, {})
        if "graphs" in found:
            told.append(
                f"{LABELS[name]}: {found['graphs']} graphs, {sum(found['breaks'].values())} breaks."
            )
    return told


def _routes_chart(evidence: Evidence) -> Chart:
    found = states(evidence)
    reference = found.get(REFERENCE)
    alike: dict[tuple[float, ...], list[str]] = {}
    for name, each in found.items() if reference else ():
        if name != REFERENCE:
            alike.setdefault(tuple(apart(each, reference or [])), []).append(name)
    return Chart(
        name="training-routes",
        title="How far each way to take a step is from PyTorch's loop",
        kind="line",
        x="step",
        y="greatest difference",
        series=tuple(
            Series(
                _together(names),
                tuple(float(step + 1) for step in range(len(off))),
                tuple(value or None for value in off),
            )
            for off, names in alike.items()
            if any(off)
        ),
        log=("y",),
        note="; ".join(
            f"no difference at all: {_together(names)}"
            for off, names in alike.items()
            if not any(off)
        ),
    )


def _together(names: list[str]) -> str:
    whose = {framework(name) for name in names}
    return (
        f"{len(names)} routes of {', '.join(sorted(whose))}"
        if len(names) > 1
        else f"{whose.pop()}: {LABELS[names[0]]}"
    )


def _updates_chart(evidence: Evidence) -> Chart:
    found = [each for each in updates(evidence) if each.apart]
    return Chart(
        name="training-updates",
        title="Update rules against torch.optim's, after five given gradients",
        kind="points",
        x="",
        y="greatest difference of the weight",
        series=tuple(
            Series(
                where,
                tuple(each.name for each in found),
                tuple(each.apart.get(place) or None for each in found),
            )
            for place, where in (
                ("nn", "mindspore.nn"),
                ("experimental", "mindspore.experimental.optim"),
            )
            if found
        ),
        log=("y",),
        note="A rule without a point is not there, or gives the same to the last bit; 1e-7 is what float32 rounds to.",
    )


def _times_chart(evidence: Evidence) -> Chart:
    bars: dict[str, float] = {}
    for name, who in (
        ("training.speed.mindspore", "MindSpore, tape"),
        ("training.speed.torch", "PyTorch"),
    ):
        measured = evidence.measured.get(name)
        timings = measured.timings if measured else {}
        bars |= {
            f"{who}, {way}": seconds * 1000
            for way, seconds in timings.items()
            if "first call" not in way
        }
    return Chart(
        name="training-times",
        title="Time of a step: by itself and compiled whole",
        kind="points",
        x="",
        y="milliseconds of the processor (least)",
        log=("y",),
        series=(Series("a step", tuple(bars), tuple(bars.values())),) if bars else (),
        timing=True,
    )
