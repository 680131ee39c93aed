"""Parameters of one net that are several of the other's, one after the other along the first axis."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.model.requests import ParameterSpec, Repacked
from explorer.scenario.pairing import kind_of, module_of, size_of, squeezed


class Pack(NamedTuple):
    """A parameter that is the concatenation of ``parts``; ``holder`` is the framework that packs it."""

    holder: Framework
    whole: ParameterSpec
    parts: tuple[ParameterSpec, ...]

    @property
    def rows(self) -> tuple[slice, ...]:
        """The rows of the whole that each part is."""
        rows, start = [], 0
        for part in self.parts:
            length = _rows(part)
            rows.append(slice(start, start + length))
            start += length
        return tuple(rows)

    @property
    def is_trained(self) -> bool:
        """Whether both nets train it."""
        return all(spec.trainable for spec in (self.whole, *self.parts))

    @property
    def pieces(self) -> Repacked:
        """What MindSpore's net and PyTorch's hold, by the names that starting values have."""
        names = self.names
        whole = {names.get(self.whole.path, self.whole.name): self.whole.value.shape}
        parts = {names.get(part.path, part.name): part.value.shape for part in self.parts}
        if self.holder == "mindspore":
            return Repacked(own=whole, torch=parts)
        return Repacked(own=parts, torch=whole)

    @property
    def names(self) -> dict[str, str]:
        """A name in PyTorch's words for each of MindSpore's parameters, by its path.

        Of a part it is that of the whole with its rows: "qkv.weight[0:64]".
        """
        if self.holder == "mindspore":
            return {self.whole.path: " + ".join(part.name for part in self.parts)}
        names = {}
        for part, rows in zip(self.parts, self.rows, strict=True):
            names[part.path] = f"{self.whole.name}[{rows.start}:{rows.stop}]"
        return names

    def split(self, whole: AnyArray) -> list[AnyArray]:
        """The parts of an array of the whole, each in its own shape."""
        pieces = []
        for part, rows in zip(self.parts, self.rows, strict=True):
            pieces.append(whole[rows].reshape(part.value.shape))
        return pieces


def packs(mindspore: Sequence[ParameterSpec], torch: Sequence[ParameterSpec]) -> tuple[Pack, ...]:
    """What is packed on either side among the parameters that have no partner.

    Parts are of one kind, lie in one module or in modules beside each other, and follow each other.
    """
    found = list(_packed("torch", torch, mindspore))
    taken = {id(spec) for pack in found for spec in (pack.whole, *pack.parts)}
    left = [spec for spec in torch if id(spec) not in taken]
    mine = [spec for spec in mindspore if id(spec) not in taken]
    return (*found, *_packed("mindspore", mine, left))


def _packed(
    holder: Framework, wholes: Iterable[ParameterSpec], parts: Sequence[ParameterSpec]
) -> list[Pack]:
    found = []
    free = list(parts)
    for whole in wholes:
        alike = [part for part in free if _may_be_part(part, whole)]
        run = _first_run(alike, _rows(whole))
        if run:
            found.append(Pack(holder, whole, tuple(run)))
            # What is declared before it belongs to what comes before.
            last = max(place for place, part in enumerate(free) if part is run[-1])
            free = [
                part
                for place, part in enumerate(free)
                if place > last or kind_of(part) != kind_of(whole)
            ]
    return found


def _may_be_part(part: ParameterSpec, whole: ParameterSpec) -> bool:
    is_smaller = size_of(part) < size_of(whole) and _rows(part) < _rows(whole)
    one, other = squeezed(part.value.shape[1:]), squeezed(whole.value.shape[1:])
    return is_smaller and one == other and kind_of(part) == kind_of(whole) != ""


def _first_run(parts: Sequence[ParameterSpec], rows: int) -> list[ParameterSpec]:
    """The first parameters in one place of the tree that have so many rows together."""
    for start, first in enumerate(parts):
        run: list[ParameterSpec] = []
        for part in parts[start:]:
            if _place(part) != _place(first) or sum(map(_rows, run)) >= rows:
                break
            run.append(part)
        if len(run) > 1 and sum(map(_rows, run)) == rows:
            return run
    return []


def _place(spec: ParameterSpec) -> str:
    return module_of(spec).rpartition(".")[0]


def _rows(spec: ParameterSpec) -> int:
    return spec.value.shape[0] if spec.value.shape else 0
