"""Two nets whose parameters do not correspond: errors with the lines to add, and findings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, product, starmap
from operator import attrgetter

import msgspec

from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError
from explorer.model.findings import (
    Holder,
    LoneIntegers,
    LoneStart,
    LoneWeight,
    LoneWeights,
    OtherRole,
    ReportFinding,
    ReturnedClass,
    SameMasks,
    Unmet,
)
from explorer.model.requests import Description, ParameterSpec
from explorer.model.trees import DICT, LIST, TUPLE, Branch, Tree
from explorer.scenario.correspondence import (
    Held,
    all_specs,
    common,
    is_floating,
    is_weight,
    lone,
)
from explorer.scenario.declaration import Declaration
from explorer.scenario.pairing import fits, kind_of, kind_of_name, size_of
from explorer.scenario.proposals import Proposal, entries, propose
from explorer.text.choices import nearest, refusal
from explorer.text.language import _, named

SHOWN = 3
"""The greatest number of candidates that a message names for a parameter without a partner."""

LISTED = 8
"""The greatest number of parameters without a partner that a message lists."""

# Names that a scenario gives


def check_parameter_names(scenario: Declaration, mindspore: Description) -> None:
    """Raise ScenarioError for an entry of PARAMETER_NAMES or LAYOUTS whose name does not exist."""
    specs = (*mindspore.parameters, *mindspore.constants)
    paths = list(map(attrgetter("path"), specs))
    own_names = list(filter(None, map(attrgetter("own_name"), specs)))
    modules: list[str] = []
    for path in paths:
        modules += accumulate(path.split(".")[:-1], "{}.{}".format)
    fact = _("MindSpore's net has no parameter {name!r}")
    also_allowed = [*own_names, *modules]
    if not scenario.defines("jax"):  # whose names these may be
        _check_named(scenario, "PARAMETER_NAMES", scenario.renames, paths, also_allowed, fact)
    in_torch = list(map(attrgetter("name"), specs))
    _check_named(scenario, "LAYOUTS", scenario.layouts, paths, in_torch, fact)
    _check_kinds(scenario, specs)


def _check_kinds(scenario: Declaration, specs: Iterable[ParameterSpec]) -> None:
    """Raise ScenarioError for a name that makes a parameter one of another kind: gamma a bias."""
    kinds = {
        "weight": _("a weight"),
        "bias": _("a bias"),
        "mean": _("a running mean"),
        "variance": _("a running variance"),
    }
    for spec in specs:
        own, other = kind_of_name(spec.path), kind_of_name(spec.name)
        if own and other and own != other:
            text = _("{file}: {option}: {path} is {kind}, and {name} of PyTorch's net {other}")
            raise ScenarioError(
                text,
                file=scenario.place,
                option=scenario.option("PARAMETER_NAMES"),
                path=spec.path,
                kind=kinds[own],
                name=spec.name,
                other=kinds[other],
            )


def check_left_out(scenario: Declaration, mindspore: Description, torch: Description) -> None:
    """Raise ScenarioError for a name in BUFFERS that no net has, or that a net trains."""
    specs = (*all_specs(mindspore).values(), *all_specs(torch).values())
    names: list[str] = []
    for spec in specs:
        if not spec.trainable:
            names += (spec.path, spec.name)
    fact = _("no net has a buffer {name!r}")
    _check_named(scenario, "BUFFERS", scenario.left_out, names, [], fact)


def _check_named(
    scenario: Declaration,
    option: str,
    names: Iterable[str],
    paths: list[str],
    also_allowed: list[str],
    fact: str,
) -> None:
    """Raise ScenarioError for a name that is neither a path in the Cell tree nor allowed besides."""
    for name in names:
        if name not in paths and name not in also_allowed:
            allowed = list(dict.fromkeys([*paths, *also_allowed]))
            said = scenario.option(option)
            message = refusal(f"{said}: {fact.format(name=name)}", name, allowed)
            raise ScenarioError(f"{scenario.place}: {message}")


# Parameters without a partner, or with one of another shape


def check_parameters(scenario: Declaration, mindspore: Description, torch: Description) -> None:
    """Raise ScenarioError where a trained parameter may have a partner of another name or shape.

    The message has the reason, a few of the parameters with possible counterparts, and the line to
    add. A parameter without any possible counterpart is a finding, unless no trained parameter has
    a counterpart.
    """
    shapes = list(_of_another_shape(mindspore, torch))
    tests = (_may_belong, _have_nothing_in_common, _differ_in_width)
    if not (shapes or any(test(mindspore, torch) for test in tests)):
        return
    problems = [*_without_partner(mindspore, torch), *shapes]
    reason = reason_of(mindspore, torch)
    # Where the nets differ, what has no partner says less than why.
    most = SHOWN if reason else LISTED
    lines = "".join(f"\n  {problem}" for problem in problems[:most])
    if len(problems) > most:
        lines += "\n  " + _("… and {n} more").format(n=len(problems) - most)
    text = _("{file}: the parameters of the two nets do not match.{lines}\n{remedy}")
    if reason:
        text = _("{file}: the parameters of the two nets do not match: {reason}.{lines}\n{remedy}")
    raise ScenarioError(
        text,
        file=scenario.place,
        reason=reason,
        lines=lines,
        remedy=_without_names(scenario) if reason else _remedy(scenario, mindspore, torch),
    )


def reason_of(mindspore: Description, torch: Description) -> str:
    """Why parameters have no partner, as far as shapes and kinds tell; "" where they do not."""
    norms = _batch_norms(mindspore), _batch_norms(torch)
    if bool(norms[0]) != bool(norms[1]):
        text = _("MindSpore's net has no BatchNorm, PyTorch's has {n} (the first one is {first})")
        if norms[0]:
            text = _(
                "PyTorch's net has no BatchNorm, MindSpore's has {n} (the first one is {first})"
            )
        paths = norms[0] or norms[1]
        return text.format(n=len(paths), first=paths[0])
    text = _("widths differ from {mindspore} in MindSpore, {torch} in PyTorch on")
    for held in common(mindspore, torch):
        if is_weight(held.mindspore) and size_of(held.mindspore) != size_of(held.torch):
            return text.format(mindspore=_titled(held.mindspore), torch=_titled(held.torch))
    for spec in _without_a_like(mindspore, torch):
        for other in _without_a_like(torch, mindspore):
            if len(spec.value.shape) == len(other.value.shape):
                return text.format(mindspore=_titled(spec), torch=_titled(other))
    return ""


def _without_a_like(one: Description, other: Description) -> list[ParameterSpec]:
    """The matrices and kernels that one net alone has, of shapes that the other has nothing left of."""
    others = lone(other, one)
    wide = [spec for spec in lone(one, other) if is_weight(spec) and len(spec.value.shape) > 1]
    return [spec for spec in wide if not any(map(partial(fits, spec), others))]


def _batch_norms(net: Description) -> list[str]:
    """The modules of a net with running statistics."""
    modules = [spec.path.rpartition(".")[0] for spec in net.parameters if kind_of(spec) == "mean"]
    return list(dict.fromkeys(modules))


def _some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    if len(names) <= SHOWN:
        return named(names)
    text = _("{names} and {n} more")
    return text.format(names=named(names[:SHOWN]), n=len(names) - SHOWN)


def _dict(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(starmap('"{}": "{}"'.format, entries.items())) + "}"


def _remedy(scenario: Declaration, mindspore: Description, torch: Description) -> str:
    """The lines to add if the proposed pairs are right."""
    proposal = propose(mindspore, torch)
    names = entries(proposal.pairs, mindspore, torch)
    steps = list(starmap('"{}": {}'.format, _layouts(proposal, mindspore, torch)))
    lines = []
    if names:
        lines.append(scenario.entry("PARAMETER_NAMES", _dict(names)))
    if steps:
        lines.append(scenario.entry("LAYOUTS", f"{{{', '.join(steps)}}}"))
    names_of = _some(proposal.undecided)
    if not lines and proposal.undecided:
        text = _("The counterpart of {parameters} in PyTorch is ambiguous; add {form}")
        return text.format(parameters=names_of, form=_form(scenario))
    if not lines:
        return _without_names(scenario)
    notes = ""
    if proposal.undecided:
        text = _("The counterpart of {parameters} in PyTorch is ambiguous; add it yourself. ")
        notes += text.format(parameters=names_of)
    text = _("If these are the same parameters, add {lines}")
    return notes + text.format(lines=_(" and ").join(lines))


def _without_names(scenario: Declaration) -> str:
    """What to do where no names are proposed."""
    text = _("Give both nets parameters of the same shapes; if only the names differ, add {form}")
    return text.format(form=_form(scenario))


def _form(scenario: Declaration) -> str:
    return scenario.entry("PARAMETER_NAMES", '{"mindspore name": "torch name"}')


def _layouts(
    proposal: Proposal, mindspore: Description, torch: Description
) -> Iterator[tuple[str, str]]:
    """MindSpore's paths of the parameters that need a layout to be PyTorch's, and the layout."""
    pairs = starmap(Held, proposal.pairs)
    for held in (*pairs, *common(mindspore, torch)):
        if not (held.mindspore.trainable or held.torch.trainable):
            continue
        layout = _layout(held)
        if layout:
            yield held.mindspore.path, layout


def _may_belong(mindspore: Description, torch: Description) -> bool:
    """Whether a weight of one net alone may belong to something left over in the other."""
    in_mindspore, in_torch = lone(mindspore, torch), lone(torch, mindspore)
    for spec, other in product(in_mindspore, in_torch):
        if fits(spec, other) and (is_weight(spec) or is_weight(other)):
            return True
    return False


def _have_nothing_in_common(mindspore: Description, torch: Description) -> bool:
    """Whether each net has weights, and none of them is in the other."""
    if any(is_weight(held.mindspore) or is_weight(held.torch) for held in common(mindspore, torch)):
        return False
    return any(map(is_weight, mindspore.parameters)) and any(map(is_weight, torch.parameters))


def _differ_in_width(mindspore: Description, torch: Description) -> bool:
    """Whether each net has a matrix or kernel of a size that the other has nothing left of."""
    return bool(_without_a_like(mindspore, torch) and _without_a_like(torch, mindspore))


def _without_partner(mindspore: Description, torch: Description) -> Iterator[str]:
    """A sentence on each weight that one net alone has."""
    in_mindspore, in_torch = lone(mindspore, torch), lone(torch, mindspore)
    for spec in filter(is_weight, in_mindspore):
        yield _only("MindSpore", spec, "PyTorch", in_torch)
    for spec in filter(is_weight, in_torch):
        yield _only("PyTorch", spec, "MindSpore", in_mindspore)


def _only(holder: str, spec: ParameterSpec, other: str, others: list[ParameterSpec]) -> str:
    """A sentence on a weight that one net alone has, with its possible counterparts in the other."""
    near = _nearest(spec, others)
    text = _("only {holder} has {parameter}; most similar in {other}: {near}")
    if not near:
        text = _(
            "only {holder} has {parameter}; {other} has no unpaired parameter of this size and kind"
        )
    return text.format(
        holder=holder, parameter=_titled(spec), other=other, near=", ".join(map(_titled, near))
    )


def _nearest(spec: ParameterSpec, others: list[ParameterSpec]) -> list[ParameterSpec]:
    """The parameters most like one by shape, then by name; none where none fits."""
    alike = [other for other in others if fits(spec, other)]
    names = nearest(spec.path, [other.path for other in alike])

    def distance(other: ParameterSpec) -> tuple[bool, bool, int]:
        place = names.index(other.path) if other.path in names else len(names)
        return other.value.shape != spec.value.shape, not other.trainable, place

    return sorted(alike, key=distance)[:SHOWN]


def _of_another_shape(mindspore: Description, torch: Description) -> Iterator[str]:
    """A sentence on each pair, one of which is trained, whose shapes differ."""
    for held in common(mindspore, torch):
        is_trained = held.mindspore.trainable or held.torch.trainable
        if is_trained and not held.has_one_shape:
            yield _("{name} has shape {mindspore} in MindSpore, {torch} in PyTorch").format(
                name=held.name, mindspore=held.mindspore.value.shape, torch=held.torch.value.shape
            )


def _layout(held: Held) -> str:
    """The layout that makes MindSpore's shape PyTorch's; empty where none is needed or none does."""
    if held.has_one_shape or size_of(held.mindspore) != size_of(held.torch):
        return ""
    shape, wanted = held.mindspore.value.shape, held.torch.value.shape
    if len(shape) == 2 and shape[::-1] == wanted:
        return '{"transpose": (1, 0)}'
    return f'{{"reshape": {wanted}}}'


def _titled(spec: ParameterSpec) -> str:
    """A parameter by its framework's names, with its shape."""
    if spec.own_name in ("", spec.path):
        return f"{spec.path} {spec.value.shape}"
    text = _("{path} {shape} (named {name!r})")
    return text.format(path=spec.path, shape=spec.value.shape, name=spec.own_name)


def findings(
    scenario: Declaration, mindspore: Description, torch: Description
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
    scenario: Declaration, mindspore: Description, torch: Description
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
    alone = lone(mindspore, torch)
    yield from _of_weights(list(filter(is_weight, alone)), "mindspore")
    for spec in alone:
        if spec.trainable and not is_weight(spec):
            fact = LoneIntegers(spec.name, spec.value.dtype)
            yield ReportFinding(fact=fact, names=(spec.name,))
    yield from _of_weights(list(filter(is_weight, lone(torch, mindspore))), "torch")


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


def _of_weights(specs: Sequence[ParameterSpec], framework: Framework) -> Iterator[ReportFinding]:
    """What one net alone trains: a finding each, or one in which there are many."""
    names = tuple(spec.name for spec in specs)
    if len(specs) > SHOWN:
        biases = sum(kind_of(spec) == "bias" for spec in specs)
        yield ReportFinding(fact=LoneWeights(names, biases, framework), names=names)
        return
    for spec in specs:
        fact = LoneWeight(spec.name, spec.value.shape, framework)
        yield ReportFinding(fact=fact, names=(spec.name,))
