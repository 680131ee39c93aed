"""Which tensor of MindSpore's net is which of PyTorch's."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from explorer.model.arrays import unpack
from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.declaration import Declaration

START_RTOL, START_ATOL = 1e-5, 1e-7
"""Up to here two nets start alike: one may have computed in float64 what the other did in float32."""


class Held(NamedTuple):
    """A tensor that both nets hold."""

    mindspore: ParameterSpec
    torch: ParameterSpec

    @property
    def name(self) -> str:
        """PyTorch's name."""
        return self.torch.name

    @property
    def has_one_shape(self) -> bool:
        """Whether both lay it out alike, as far as their shapes say."""
        return self.mindspore.value.shape == self.torch.value.shape


def all_specs(description: Description) -> dict[str, ParameterSpec]:
    """What a net holds, by PyTorch's names; of a parameter and a constant the parameter counts."""
    specs = {spec.name: spec for spec in description.constants}
    specs.update({spec.name: spec for spec in description.parameters})
    return specs


def common(mindspore: Description, torch: Description) -> list[Held]:
    """What both nets hold."""
    known = all_specs(mindspore)
    in_torch = all_specs(torch).values()
    return [Held(known[spec.name], spec) for spec in in_torch if spec.name in known]


def lone(one: Description, other: Description) -> list[ParameterSpec]:
    """What the net of ``one`` holds and that of ``other`` does not."""
    known = all_specs(other)
    return [spec for spec in all_specs(one).values() if spec.name not in known]


def is_weight(spec: ParameterSpec) -> bool:
    """Whether a tensor is trained, and holds floating numbers.

    A Parameter of integers, as a counter or a table of indices, is trained by default in
    MindSpore 2.10, which is never intended.
    """
    return spec.trainable and is_floating(spec)


def is_floating(spec: ParameterSpec) -> bool:
    """Whether a tensor holds floating numbers."""
    return "float" in spec.value.dtype


# Statistics of modules that are called differently


def with_statistics_named(mindspore: Description, torch: Description) -> Description:
    """MindSpore's net, with PyTorch's names for statistics of modules that are called differently.

    PARAMETER_NAMES that map a module's weights say what the module is called; where they do not,
    the only statistic of a name and a shape on either side is the same.
    """
    free = _free_statistics(torch.parameters, mindspore.parameters)
    own = _free_statistics(mindspore.parameters, torch.parameters)
    modules = _modules(mindspore)
    names: dict[str, str] = {}
    for spec in own:
        module_path, last = spec.path.rpartition(".")[0], spec.name.rpartition(".")[2]
        alike = _alike(spec, free)
        if module_path in modules:
            names[spec.path] = f"{modules[module_path]}.{last}".lstrip(".")
        elif len(alike) == 1 and len(_alike(spec, own)) == 1:
            names[spec.path] = alike[0].name

    parameters = []
    for spec in mindspore.parameters:
        name = names.get(spec.path, spec.name)
        parameters.append(msgspec.structs.replace(spec, name=name))
    return msgspec.structs.replace(mindspore, parameters=tuple(parameters))


def _free_statistics(
    specs: Iterable[ParameterSpec], others: Iterable[ParameterSpec]
) -> list[ParameterSpec]:
    """The parameters that are not trained and whose names the other net does not have."""
    taken = {spec.name for spec in others}
    return [spec for spec in specs if not spec.trainable and spec.name not in taken]


def _alike(spec: ParameterSpec, specs: Iterable[ParameterSpec]) -> list[ParameterSpec]:
    """Those whose names end like that of ``spec`` and whose shapes are the same."""
    return [other for other in specs if _ending(other) == _ending(spec)]


def _ending(spec: ParameterSpec) -> tuple[str, tuple[int, ...]]:
    return spec.name.rpartition(".")[2], spec.value.shape


def _modules(mindspore: Description) -> dict[str, str]:
    """PyTorch's path of each module whose weights all have a name in one module of PyTorch's.

    The keys are MindSpore's paths, in which its own names of statistics begin.
    """
    paths: dict[str, set[str]] = {}
    for spec in mindspore.parameters:
        if spec.trainable:
            module_path = spec.path.rpartition(".")[0]
            paths.setdefault(module_path, set()).add(spec.name.rpartition(".")[0])
    return {path: names.pop() for path, names in paths.items() if len(names) == 1}


# Starting values


def keep_their_own(held: Held) -> bool:
    """Whether each net keeps its own values of a tensor.

    Parameters and buffers start alike, as a checkpoint would have them, and so does what either
    trains; a plain tensor is otherwise what the net's own code made it.
    """
    one, other = unpack(held.mindspore.value), unpack(held.torch.value)
    # Tables of other sizes (a mask for the longest text) are not the same quantity.
    if one.size != other.size:
        return True
    roles = {held.mindspore.role, held.torch.role}
    if "trained" in roles or "constant" not in roles:
        return False
    pair = one.ravel().astype(np.float64), other.ravel().astype(np.float64)
    return not np.allclose(*pair, START_RTOL, START_ATOL, equal_nan=True)


def is_left_out(scenario: Declaration, held: Held) -> bool:
    """Whether the scenario says that each net keeps its own values of a buffer."""
    return not {held.name, held.mindspore.path}.isdisjoint(scenario.left_out)
