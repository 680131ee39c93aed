"""Judges of the claims about training: pure functions from figures to rulings."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics import training
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.training.comparing import (
    NEAR,
    States,
    added_up,
    apart,
    decays,
    farthest,
    unlike,
)


def clipping(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 16."""
    ours, theirs = (
        evidence[training.CLIPPING_MINDSPORE.name],
        evidence[training.CLIPPING_TORCH.name],
    )
    off = max(
        unlike(each, theirs["by norm"][norm]["gradients"]) for norm, each in ours["by norm"].items()
    )
    seen = f"default clip_norm {ours['default']}: {_brief(ours['by default'])}; at most {off:.1e} from clip_grad_norm_"
    if off > NEAR:
        return Ruling(
            "does_not_hold", seen, "Compare clipped gradients before you compare training runs."
        )
    if (
        ours["default"] != expects["default"]
        or unlike(ours["by default"], expects["gradients"]) > NEAR
    ):
        return Ruling("holds_with_changes", seen, "Name the norm: the default is not 1 any more.")
    note = "Pass the result on: MindSpore returns clipped gradients, while clip_grad_norm_ changes .grad and has no default norm."
    return Ruling("holds", seen, note)


def _brief(gradients: Any) -> str:
    return str([[round(value, 4) for value in each] for each in gradients])


def accumulation(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 17."""
    frozen = (
        evidence[each.name]
        for each in (training.ACCUMULATION_MINDSPORE, training.ACCUMULATION_TORCH)
    )
    moving = (
        evidence[each.name]
        for each in (training.ACCUMULATION_NORM_MINDSPORE, training.ACCUMULATION_NORM_TORCH)
    )
    offs = [(added_up(each, "mean"), added_up(each, "sum")) for each in frozen]
    norm = max(added_up(each, "mean")["divided"] for each in moving)
    mean, total = max(mean["divided"] for mean, _ in offs), max(total["added"] for _, total in offs)
    undivided = min(mean["added"] for mean, _ in offs)
    seen = f"mean: off by {mean:.1e} divided by 4 ({undivided:.1e} undivided); sum: {total:.1e}; batch norm in training: {norm:.1e}"
    if mean > NEAR or total > NEAR:
        return Ruling(
            "does_not_hold", seen, "Check the reduction of the loss: the gradients do not add up."
        )
    if undivided <= NEAR:
        return Ruling(
            "does_not_hold", seen, "Do not divide: the gradients of a mean add up as they are."
        )
    also = (
        "; batch norm in training sees each micro-batch alone, so keep it out of the comparison"
        if norm > NEAR
        else ""
    )
    return Ruling(
        "holds", seen, f"Divide by the number of micro-batches if the loss is a mean{also}."
    )


def functional_step(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 19."""
    loop = _states(evidence[training.LOOP.name])
    off = {
        style: max(apart(_states(evidence[each.name]), loop))
        for style, each in (("graph", training.FUNCTIONAL), ("tape", training.FUNCTIONAL_TAPE))
    }
    seen = (
        ", ".join(
            f"{style} style at most {most:.1e} from PyTorch's loop" for style, most in off.items()
        )
        + " over 5 steps"
    )
    near = [style for style, most in off.items() if most <= NEAR]
    if len(near) == len(off):
        return Ruling(
            "holds",
            seen,
            "Use value_and_grad over optimizer.parameters, then optimizer(grads); nothing needs zeroing.",
        )
    if near:
        return Ruling(
            "depends_on_style", seen, f"Use {near[0]} style, or compare the weights step by step."
        )
    return Ruling(
        "does_not_hold", seen, "Compare the weights after one step to find where they part."
    )


def _states(figures: Figures) -> States:
    found: States = figures["states"]
    return found


def jitted_step(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 20."""
    off = max(
        apart(
            _states(evidence[training.JIT_TAPE.name]),
            _states(evidence[training.FUNCTIONAL_TAPE.name]),
        )
    )
    times = evidence.measured[training.SPEED_MINDSPORE.name].timings
    ratio = times["by itself"] / times["ms.jit"]
    seen = (
        f"weights at most {off:.1e} apart after 5 steps; "
        f"repeated without ms.jit, a step takes {ratio:.1f} times the processor's time"
    )
    if off > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the weights with and without ms.jit before you rely on it.",
        )
    if ratio < expects["faster"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Measure before you decorate: here the compiled step is no faster.",
        )
    return Ruling(
        "holds",
        seen,
        "Decorate the whole step with ms.jit, and leave the first call, which compiles, out of the timing.",
    )


def dispatches(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 21."""
    found, graphs = evidence[training.DISPATCHES_MINDSPORE.name], evidence[training.GRAPHS.name]
    kinds = {
        way: [[part for part in ("forward", "backward", "update") if each[part]] for each in made]
        for way, made in graphs.items()
    }
    by_op = [part for part in ("forward", "backward", "update") if found[part]]
    whole = kinds["ms.jit"] == [["forward", "backward", "update"]] and not found["ms.jit"]
    tape = len(by_op) + len([each for each in kinds["tape"] if each])
    graph = len(kinds["graph"])
    seen = (
        f"tape: {' and '.join(f'{len(found[part])} {part} operators' for part in by_op)} one by one, {_graphs(graphs['tape'])};"
        f" graph style: {_graphs(graphs['graph'])}; ms.jit: {_graphs(graphs['ms.jit'])}"
    )
    if not whole:
        return Ruling("does_not_hold", seen, "Look at the graphs: the step is not one of them.")
    if tape == graph == 3:
        return Ruling("holds", seen, "Decorate the whole step with ms.jit to have one graph.")
    note = "Decorate the whole step to have one graph: tape style dispatches each operator, graph style joins forward and backward."
    return Ruling("depends_on_style", seen, note)


def _graphs(made: list[dict[str, int]]) -> str:
    """ "2 graphs (forward and backward, 41 nodes; update, 28 nodes)"."""
    each = "; ".join(
        f"{' and '.join(part for part in ('forward', 'backward', 'update') if counts[part])}, {sum(counts.values())} nodes"
        for counts in made
    )
    return f"{len(made)} graph{'s' if len(made) != 1 else ''} ({each})"


def routes(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 52."""
    loop = _states(evidence[training.LOOP.name])

    def off(name: str, weights_alone: bool = False) -> float:
        found, reference = (
            _weights(each) if weights_alone else each for each in (_states(evidence[name]), loop)
        )
        return max(apart(found, reference))

    graph = max(
        off(each.name) for each in (training.MODEL, training.STEP_CELL, training.GRAD_OPERATION)
    )
    tape, bare = off(training.GRAD_OPERATION_TAPE.name), training.UNANNOUNCED_TAPE.name
    where = farthest(_states(evidence[bare]), loop)
    seen = (
        f"graph: at most {graph:.1e} from PyTorch's loop; the hand-written step in tape style: {tape:.1e};"
        f" without set_grad(): weights {off(bare, weights_alone=True):.1e}, {where} {off(bare):.2g}"
    )
    if graph > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the weights after one step to find where the routes part.",
        )
    if tape > NEAR or off(bare, weights_alone=True) > NEAR:
        return Ruling(
            "depends_on_style", seen, "Use graph style for a hand-written GradOperation step."
        )
    if off(bare) > NEAR:
        note = "Call set_grad() on the network of a hand-written step: in tape style its forward runs twice otherwise."
        return Ruling("holds", seen, note)
    return Ruling("holds", seen, "Take whichever route reads best.")


def _weights(states: States) -> States:
    """The states without the running statistics, which the optimizer does not touch."""
    return [
        {name: value for name, value in each.items() if "running" not in name} for each in states
    ]


def filtering(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 53."""
    ours, theirs = (
        evidence[training.FILTERED_MINDSPORE.name],
        evidence[training.FILTERED_TORCH.name],
    )
    seen = (
        f"trainable_params(): {ours['type']} of {ours['count']}; parameters(): {theirs['type']} of {theirs['count']};"
        f" given {', '.join(ours['chosen'])}, the step moves {', '.join(ours['moved'])} and {', '.join(theirs['moved'])}"
    )
    if any(sorted(each["chosen"]) != each["moved"] for each in (ours, theirs)):
        return Ruling(
            "does_not_hold",
            seen,
            "Check which weights move: the optimizer does not keep to what it was given.",
        )
    if (ours["type"], theirs["type"]) != ("list", "generator"):
        return Ruling(
            "holds_with_changes",
            seen,
            "Filter by name as before, and do not rely on the type of what you filter.",
        )
    return Ruling(
        "holds",
        seen,
        "Filter trainable_params() by p.name, and named_parameters() by name; a generator is used up once.",
    )


def weight_decay(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 57."""
    ours, theirs = evidence[training.DECAY_MINDSPORE.name], evidence[training.DECAY_TORCH.name]
    same = all(
        abs(each["0.1"]["fc.weight"] - _partner(name, theirs)["0.1"]["fc.weight"]) <= NEAR
        for name, each in ours.items()
    )
    spared = {
        weight: name
        for name, each in ours.items()
        for weight, left in each["0.1"].items()
        if left == 1.0
    }
    from_start = [name for name, each in {**ours, **theirs}.items() if decays(each["default"])]
    plain = [name for name in from_start if "AdamW" not in name]
    seen = (
        f"SGD leaves {ours['nn SGD']['0.1']['fc.weight']:.4g} and {theirs['torch SGD']['0.1']['fc.weight']:.4g} of 1;"
        f" nn spares {', '.join(spared) or 'nothing'}; decay by default: {', '.join(from_start) or 'none'}"
    )
    if not same or plain:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare one step with gradient 0 before you carry a weight decay over.",
        )
    if spared or from_start:
        note = "Set weight_decay yourself for AdamW; nn optimizers spare gamma and beta by name, PyTorch needs a group for them."
        return Ruling("holds_with_changes", seen, note)
    return Ruling("holds", seen, "Carry the weight decay over as it is.")


def _partner(name: str, theirs: Figures) -> Any:
    """PyTorch's optimizer of the same update: nn.Momentum without momentum is SGD."""
    return theirs.get(f"torch {name.partition(' ')[2]}", theirs["torch SGD"])


def groups(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 58."""
    found = {**evidence[training.GROUPS_MINDSPORE.name], **evidence[training.GROUPS_TORCH.name]}
    grown = {**evidence[training.GROWN_MINDSPORE.name], **evidence[training.GROWN_TORCH.name]}
    works = {
        place: [name for name, each in settings.items() if _works(each)]
        for place, settings in found.items()
    }
    grows = {
        place: [name for name, each in made.items() if not raised(each)]
        for place, made in grown.items()
    }
    centralized = found["nn"]["grad_centralization, rows of 16"]
    seen = (
        "; ".join(f"{place}: {', '.join(names) or 'none'}" for place, names in works.items())
        + f"; add_param_group then a step: {', '.join(place for place, names in grows.items() if names) or 'nowhere'}"
        + (f"; grad_centralization: {_short(centralized)}" if raised(centralized) else "")
    )
    known = (
        "unknown"
        if raised(centralized) and "key in group params" in centralized["message"]
        else "known"
    )
    if (
        not {"lr", "weight_decay"} <= set(works["nn"])
        or "momentum" not in works["torch"]
        or not grows["torch"]
        or known == "unknown"
    ):
        return Ruling(
            "does_not_hold",
            seen,
            "Try each setting of a group in one step: these are not the guides' any more.",
        )
    if "momentum" in works["nn"]:
        return Ruling("outdated", seen, "Give a group any setting in both frameworks.")
    if "momentum" in works["experimental"]:
        later = (
            ""
            if grows["experimental"]
            else ", but name all groups at the start: a step after add_param_group raises"
        )
        note = f"Use mindspore.experimental.optim for a group's own momentum{later}."
        return Ruling("holds_with_changes", seen, note)
    return Ruling(
        "holds", seen, "Keep to lr, weight_decay and grad_centralization in MindSpore's groups."
    )


def _works(figure: Any) -> bool:
    return not raised(figure) and figure["first"] != figure["second"]


def _short(figure: Any) -> str:
    return said(figure).partition(", Please")[0]


def state(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 59."""
    ours, theirs = evidence[training.TOLD_MINDSPORE.name], evidence[training.TOLD_TORCH.name]
    has = {
        place: each["has"]["state_dict"]
        for place, each in {**ours, **theirs}.items()
        if isinstance(each, dict)
    }
    rates = {"get_lr": ours["nn"]["get_lr"], "get_last_lr": theirs["scheduler.get_last_lr"][0]}
    right = all(
        not raised(rate) and abs(rate - expects[name]) < NEAR for name, rate in rates.items()
    )
    names = ours["nn"]["state_dict"]
    listed = said(names) if raised(names) else ", ".join(names)
    there = ", ".join(f"{place} {'yes' if yes else 'no'}" for place, yes in has.items())
    told_rates = ", ".join(
        f"{name} {said(rate) if raised(rate) else format(rate, '.4g')}"
        for name, rate in rates.items()
    )
    seen = f"state_dict: {there} (nn: {listed}); {told_rates}"
    if not has["torch"] or not right:
        return Ruling(
            "does_not_hold",
            seen,
            "Look up how the optimizer tells its state: this is not the guides' any more.",
        )
    if has["nn"]:
        return Ruling(
            "outdated",
            seen,
            "Use state_dict() in both; MindSpore's is flat, by parameter name, with the weights in it.",
        )
    return Ruling("holds", seen, "Save MindSpore's optimizer with save_checkpoint.")


def momentum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Row 60."""
    paths = evidence[training.MOMENTUM.name]
    off = max(greatest_difference(one, other) for one in paths.values() for other in paths.values())
    scaled = evidence[training.SCALED_STEP.name]
    refused = {style: each for style, each in scaled.items() if raised(each)}
    outcome = (
        _short(next(iter(refused.values()))) if refused else f"loss {next(iter(scaled.values()))}"
    )
    seen = f"small operators and fused at most {off:.1e} apart over 5 steps; TrainOneStepWithLossScaleCell: {outcome}"
    if off > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the weights step by step: the two updates are not the same.",
        )
    if not refused:
        return Ruling(
            "holds", seen, "Use the fused optimizer, and the cell where a loss must be scaled."
        )
    if any("Unsupported op" in each["message"] for each in refused.values()):
        note = "Use the fused optimizer; on CPU scale with ms.amp in a step of your own: the cell's kernel is an Ascend one."
        return Ruling("not_checkable_here", f"{seen} (needs an Ascend NPU)", note)
    return Ruling("does_not_hold", seen, "Scale with ms.amp in a step of your own: the cell fails.")
