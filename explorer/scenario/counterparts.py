"""The counterparts of MindSpore's parameters in PyTorch's net, by names, or by order and values."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from explorer.model.arrays import pack, unpack
from explorer.model.findings import PackedParameters, PairedParameters, ReportFinding
from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.correspondence import is_weight, lone
from explorer.scenario.packing import Pack, packs
from explorer.scenario.pairing import Pairing, candidates, fits, squeezed
from explorer.scenario.proposals import entries
from explorer.scenario.value_matching import Ask, Likeness, likeliest, names_with

EXAMPLES = 3
"""The greatest number of pairs that a remark shows."""


class Counterparts(msgspec.Struct, frozen=True):
    """MindSpore's net with PyTorch's names, and how they were found.

    ``shapes`` are PyTorch's where these have other lengths of 1, by MindSpore's paths.
    """

    mindspore: Description
    shapes: dict[str, tuple[int, ...]] = {}
    packs: tuple[Pack, ...] = ()
    findings: tuple[ReportFinding, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """PyTorch's names by the own paths."""
        return {spec.path: spec.name for spec in self.mindspore.parameters}


def counterparts(
    mindspore: Description, torch: Description, renames: Mapping[str, str], ask: Ask
) -> Counterparts:
    """Find the counterparts: by name where names are enough, else as candidates() and values say.

    ``renames`` are what the scenario itself says; ``ask`` runs a net from given starts.
    """
    if _are_named_alike(mindspore, torch):
        return _laid_out(Counterparts(mindspore), torch)
    fixed: set[str] = set()
    mine = []
    for spec in mindspore.parameters:
        if _is_declared(spec, renames):
            fixed.add(spec.name)
        else:
            mine.append(spec)
    theirs = [spec for spec in torch.parameters if spec.name not in fixed]

    choices = candidates(mine, theirs)
    # Nets that are refused anyway need not be run.
    likeness = Likeness(choices[0])
    if not _has_misfits(choices[0]):
        likeness = likeliest(choices, ask)
    pairing = likeness.pairing
    found = packs(pairing.mindspore, pairing.torch)
    names = names_with(pairing, found)
    renamed = _renamed(mindspore, names)
    findings = list(_packed(found))
    if any(pair.how != "name" for pair in pairing.pairs):
        findings.insert(0, _paired(likeness, mindspore, torch))
    return _laid_out(Counterparts(renamed, packs=found, findings=tuple(findings)), torch)


def _are_named_alike(mindspore: Description, torch: Description) -> bool:
    """Whether the weights of each net have a name that the other net has too."""
    alone = (*lone(mindspore, torch), *lone(torch, mindspore))
    return not any(map(is_weight, alone))


def _has_misfits(pairing: Pairing) -> bool:
    """Whether each net has something left over that may belong to something left over in the other."""
    packed: set[str] = set()
    for pack_ in packs(pairing.mindspore, pairing.torch):
        packed |= {spec.path for spec in (pack_.whole, *pack_.parts)}
    mine = [spec for spec in pairing.mindspore if spec.path not in packed]
    theirs = [spec for spec in pairing.torch if spec.path not in packed]
    return any(fits(spec, other) for spec in mine for other in theirs)


def _is_declared(spec: ParameterSpec, renames: Mapping[str, str]) -> bool:
    """Whether the scenario says what a parameter, or a Cell around it, is called in PyTorch."""
    if spec.path in renames or spec.own_name in renames:
        return True
    return any(spec.path.startswith(f"{name}.") for name in renames)


def _renamed(mindspore: Description, names: Mapping[str, str]) -> Description:
    """MindSpore's net with the names that were found; no other parameter keeps one of these."""
    used = set(names.values())
    parameters = []
    for spec in mindspore.parameters:
        name = names.get(spec.path, spec.name)
        if spec.path not in names and name in used:
            name = f"mindspore.{spec.path}"
        parameters.append(msgspec.structs.replace(spec, name=name))
    return msgspec.structs.replace(mindspore, parameters=tuple(parameters))


def _laid_out(result: Counterparts, torch: Description) -> Counterparts:
    """With the shapes of parameters that are the same but for lengths of 1."""
    shapes = {spec.name: spec.value.shape for spec in torch.parameters}
    own: dict[str, tuple[int, ...]] = {}
    parameters = []
    for spec in result.mindspore.parameters:
        wanted = shapes.get(spec.name, spec.value.shape)
        if wanted != spec.value.shape and squeezed(wanted) == squeezed(spec.value.shape):
            own[spec.path] = wanted
            value = pack(unpack(spec.value).reshape(wanted), spec.value.dtype)
            spec = msgspec.structs.replace(spec, value=value)
        parameters.append(spec)
    mindspore = msgspec.structs.replace(result.mindspore, parameters=tuple(parameters))
    return msgspec.structs.replace(result, mindspore=mindspore, shapes=own)


# What a report says of them


def _paired(likeness: Likeness, mindspore: Description, torch: Description) -> ReportFinding:
    trained = [pair for pair in likeness.pairing.pairs if is_weight(pair.mindspore)]
    others = [pair for pair in trained if pair.how != "name"]
    examples = entries([(pair.mindspore, pair.torch) for pair in others], mindspore, torch)
    # What is renamed says more than what keeps its name.
    shown = [(name, other) for name, other in examples.items() if name != other]
    fact = PairedParameters(
        pairs=len(trained),
        weights=sum(map(is_weight, torch.parameters)),
        ways=dict(Counter(pair.how for pair in trained)),
        examples=tuple(shown[:EXAMPLES]),
        others=max(len(shown) - EXAMPLES, 0),
        difference=likeness.difference,
        confirmed=likeness.is_confirmed,
    )
    return ReportFinding(fact=fact, names=tuple(pair.torch.name for pair in others))


def _packed(found: Iterable[Pack]) -> Iterator[ReportFinding]:
    found = list(found)
    if not found:
        return
    first = found[0]
    fact = PackedParameters(
        holder=first.holder,
        whole=first.whole.path,
        parts=tuple(part.path for part in first.parts),
        others=len(found) - 1,
        compared=all(pack_.is_trained for pack_ in found),
    )
    yield ReportFinding(fact=fact, names=tuple(pack_.whole.name for pack_ in found))
