"""Findings about two nets: what only one of them trains, and starting values that only one gets."""

from collections.abc import Iterator

import msgspec

from explorer.model.engines import Framework
from explorer.model.findings import (
    Holder,
    LoneIntegers,
    LoneStart,
    LoneWeight,
    OtherRole,
    ReportFinding,
    ReturnedClass,
    SameMasks,
    Unmet,
)
from explorer.model.requests import Description, ParameterSpec
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
        names = tuple(entry.names)
        judged.append(ReportFinding(fact=Unmet(names, entry.reason), names=names))
    return tuple(judged)


def _found(
    scenario: Scenario, mindspore: Description, torch: Description
) -> Iterator[ReportFinding]:
    """What only one net trains, what has no gradient, and starting values that only one gets."""
    if mindspore.masked or torch.masked:
        yield _of_masks(mindspore, torch)
    for name in dict.fromkeys(_classes_in(mindspore.returned)):
        yield ReportFinding(fact=ReturnedClass(name), names=(name,))
    yield from _of_trained(mindspore, torch)
    in_mindspore, in_torch = all_specs(mindspore), all_specs(torch)
    for name in scenario.parameters() or {}:
        if (name in in_mindspore) != (name in in_torch):
            fact = LoneStart(name, "torch" if name in in_torch else "mindspore")
            yield ReportFinding(fact=fact, names=(name,))


def _of_trained(mindspore: Description, torch: Description) -> Iterator[ReportFinding]:
    """What only one of the two nets trains."""
    for held in common(mindspore, torch):
        if held.mindspore.trainable != held.torch.trainable:
            yield _of_roles(held)
    for spec in lone(mindspore, torch):
        if is_weight(spec):
            yield _of_weight(spec, "mindspore")
        elif spec.trainable:
            fact = LoneIntegers(spec.name, spec.value.dtype)
            yield ReportFinding(fact=fact, names=(spec.name,))
    for spec in filter(is_weight, lone(torch, mindspore)):
        yield _of_weight(spec, "torch")


def _classes_in(tree: Tree) -> Iterator[str]:
    """The classes with fields in which a net returns tensors."""
    if isinstance(tree, Branch):
        if tree.kind not in (TUPLE, LIST, DICT):
            yield tree.kind
        for part in tree.parts:
            yield from _classes_in(part)


def _of_masks(mindspore: Description, torch: Description) -> ReportFinding:
    names = dict.fromkeys((*torch.masked, *mindspore.masked))
    return ReportFinding(fact=SameMasks(torch.masked, mindspore.masked), names=tuple(names))


def _of_roles(held: Held) -> ReportFinding:
    one, other = _holder("torch", held.torch), _holder("mindspore", held.mindspore)
    # The one that is trained comes first.
    holders = (one, other) if held.torch.trainable else (other, one)
    return ReportFinding(fact=OtherRole(held.name, holders), names=(held.name,))


def _holder(framework: Framework, spec: ParameterSpec) -> Holder:
    return Holder(framework, spec.role, "" if is_floating(spec) else spec.value.dtype)


def _of_weight(spec: ParameterSpec, framework: Framework) -> ReportFinding:
    fact = LoneWeight(spec.name, spec.value.shape, framework)
    return ReportFinding(fact=fact, names=(spec.name,))
