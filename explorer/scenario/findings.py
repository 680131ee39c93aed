"""Findings about two nets: what only one of them trains, and starting values that only one gets."""

from collections.abc import Iterator

import msgspec

from explorer.model.findings import ReportFinding
from explorer.model.requests import Description, ParameterSpec, Role
from explorer.model.trees import DICT, LIST, TUPLE, Branch, Tree
from explorer.scenario.contract import Scenario
from explorer.scenario.correspondence import (
    Held,
    all_specs,
    common,
    is_floating,
    is_weight,
    lone,
)

ROLE_WORDS: dict[Role, str] = {
    "trained": "trained",
    "frozen": "frozen (requires_grad=False)",
    "buffer": "a buffer",
    "constant": "a plain tensor",
}
"""What a net does with a tensor, worded to follow "is"."""


def findings(
    scenario: Scenario, mindspore: Description, torch: Description
) -> tuple[ReportFinding, ...]:
    """The differences between two nets, each marked as expected or not by the scenario."""
    judged = []
    unmet = list(scenario.expected_findings)
    for finding in _found(scenario, mindspore, torch):
        applicable = [entry for entry in scenario.expected_findings if entry.applies(finding)]
        unmet = [entry for entry in unmet if entry not in applicable]
        if applicable:
            reason = applicable[0].reason
            judged.append(msgspec.structs.replace(finding, expected=True, reason=reason))
        else:
            judged.append(finding)

    for entry in unmet:
        sentence = (
            f"{', '.join(entry.names)}: EXPECTED_FINDINGS lists a finding that does not occur:"
            f" {entry.reason}"
        )
        judged.append(ReportFinding(kind="missing", sentence=sentence, names=tuple(entry.names)))
    return tuple(judged)


def _found(
    scenario: Scenario, mindspore: Description, torch: Description
) -> Iterator[ReportFinding]:
    """What only one net trains, what has no gradient, and starting values that only one gets."""
    if mindspore.masked or torch.masked:
        yield _of_masks(mindspore, torch)
    for name in dict.fromkeys(_classes_in(mindspore.returned)):
        yield _of_class(name)
    yield from _of_trained(mindspore, torch)
    in_mindspore, in_torch = all_specs(mindspore), all_specs(torch)
    for name in scenario.parameters() or {}:
        if (name in in_mindspore) != (name in in_torch):
            yield _of_lost_start(name, "PyTorch" if name in in_torch else "MindSpore")


def _of_trained(mindspore: Description, torch: Description) -> Iterator[ReportFinding]:
    """What only one of the two nets trains."""
    for held in common(mindspore, torch):
        if held.mindspore.trainable != held.torch.trainable:
            yield _of_roles(held)
    for spec in lone(mindspore, torch):
        if is_weight(spec):
            yield _of_weight(spec, "MindSpore", "PyTorch")
        elif spec.trainable:
            yield _of_integers(spec)
    for spec in filter(is_weight, lone(torch, mindspore)):
        yield _of_weight(spec, "PyTorch", "MindSpore")


def _classes_in(tree: Tree) -> Iterator[str]:
    """The classes with fields in which a net returns tensors."""
    if isinstance(tree, Branch):
        if tree.kind not in (TUPLE, LIST, DICT):
            yield tree.kind
        for part in tree.parts:
            yield from _classes_in(part)


def _of_class(name: str) -> ReportFinding:
    sentence = (
        f"MindSpore's net returns tensors in {name}, a class with fields. MindSpore 2.10 gives no"
        " gradient for them and no error: for a dataclass in both styles, for a named tuple in graph"
        " style. Return a tuple, a list or a dict"
    )
    return ReportFinding(kind="output", sentence=sentence, names=(name,))


def _of_masks(mindspore: Description, torch: Description) -> ReportFinding:
    layers = {"PyTorch": torch.masked, "MindSpore": mindspore.masked}
    places = []
    for side, rates in layers.items():
        named = [f"{path} (p = {rate:g})" for path, rate in rates.items()]
        places.append(f"{', '.join(named) or 'none'} in {side}")
    sentence = (
        f"dropout layers use the same random masks in both nets: {', '.join(places)};"
        " with SAME_DROPOUT = False each engine draws its own"
    )
    names = dict.fromkeys((*torch.masked, *mindspore.masked))
    return ReportFinding(kind="masks", sentence=sentence, names=tuple(names))


def _of_roles(held: Held) -> ReportFinding:
    sides = {"PyTorch": held.torch, "MindSpore": held.mindspore}
    clauses = []
    # The one that is trained comes first.
    for side, spec in sorted(sides.items(), key=lambda item: not item[1].trainable):
        integers = "" if is_floating(spec) else f", with values of {spec.value.dtype},"
        clauses.append(f"{ROLE_WORDS[spec.role]}{integers} in {side}")
    sentence = f"{held.name} is {' and '.join(clauses)}"
    return ReportFinding(kind="role", sentence=sentence, names=(held.name,))


def _of_weight(spec: ParameterSpec, side: str, other: str) -> ReportFinding:
    sentence = (
        f"{spec.name} {spec.value.shape} is trained only in {side}: {other}'s net has no unpaired"
        " parameter of this size and kind; it may lack a layer or a bias, or share a weight between"
        " two layers"
    )
    return ReportFinding(kind="role", sentence=sentence, names=(spec.name,))


def _of_integers(spec: ParameterSpec) -> ReportFinding:
    sentence = (
        f"{spec.name} is trained in MindSpore although its dtype is {spec.value.dtype}"
        " (Parameter has requires_grad=True by default); PyTorch's net has no such parameter"
    )
    return ReportFinding(kind="role", sentence=sentence, names=(spec.name,))


def _of_lost_start(name: str, side: str) -> ReportFinding:
    sentence = (
        f"parameters() gives {name}, which sets a value only in {side}'s net: the other net has"
        " nothing of that name (a weight that two layers share has the name of the first one); if it"
        " has another name there, add the pair to PARAMETER_NAMES"
    )
    return ReportFinding(kind="start", sentence=sentence, names=(name,))
