"""What the panel of the graphs shows of a node, of its pair, and of the lines it comes from."""

import base64
import linecache
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.model.alignment import How, Pair, Unpaired
from explorer.model.arrays import AnyArray, Summary, unpack
from explorer.model.graph import FRAMEWORK_PACKAGES, Arguments, Node, Output
from explorer.numeric.differences import elementwise_difference, real_parts
from explorer.text.arguments import value_text
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.numbers import digits
from explorer.words.divergences import Engines
from explorer.words.graphs import what_is_missing, why_missing
from explorer.words.unpaired import REASONS, detail

AROUND = 2
"""Lines that are shown before and after one."""

LONGEST = 300
"""Characters of a line that are shown."""


class SourceLines(msgspec.Struct, frozen=True):
    """A line of source with those around it; without any where the file cannot be read.

    ``place`` is "file:line" as a node names it, ``at`` the number of its own line.
    """

    place: str
    at: int = 0
    lines: tuple[tuple[int, str], ...] = ()


def source_lines(place: str, code: Iterable[Path]) -> SourceLines:
    """The lines around a place ("file:line") in the user's code or in a framework.

    ``code`` are folders, packages and single files; those of a package are named by the path in it.
    """
    name, _, number = place.rpartition(":")
    file = source_file(name, code)
    if file is None or not number.isdecimal():
        return SourceLines(place)
    linecache.checkcache(str(file))
    texts = linecache.getlines(str(file))
    at = int(number)
    first, last = max(1, at - AROUND), min(len(texts), at + AROUND)
    lines = [(line, texts[line - 1].rstrip()[:LONGEST]) for line in range(first, last + 1)]
    return SourceLines(place, at, tuple(lines))


def source_file(name: str, code: Iterable[Path]) -> Path | None:
    """The file that a node calls ``name``; None for one that is neither the user's nor a framework's."""
    package = name.partition("/")[0]
    # Python finds a package by that name before any folder of the user's.
    places = list(code)
    if package in FRAMEWORK_PACKAGES:
        places = _package_folders(package) or places
    for place in places:
        inside = place.resolve()
        # A package's own name begins the names of its files.
        for root in (inside, inside.parent):
            file = (root / name).resolve()
            # Names come from a framework: none may lead out of the place.
            if file.suffix == ".py" and file.is_relative_to(inside) and file.is_file():
                return file
    return None


@cache
def _package_folders(package: str) -> list[Path]:
    # Finding a top-level package does not import it; a finder may say by an error that it is not there.
    try:
        spec = find_spec(package)
    except ImportError:
        return []
    if spec is None or not spec.origin:
        return []
    return [Path(spec.origin).parent]


NOT_FINITE, ZERO, REACH = 0, 128, 127
"""The byte of a cell that is not finite, that of zero, and how far the others are from it."""


class HeatMap(msgspec.Struct, frozen=True):
    """A heat map.

    ``cells`` are its bytes in base64, row by row: 0 is not finite, 128 is zero, 1 and 255 are the
    value farthest from zero, below and above. ``range`` says which values these are.
    """

    rows: int
    columns: int
    cells: str
    range: str


def heat_map(array: AnyArray) -> HeatMap:
    """The heat map of an array, whose last axis is its columns; of a complex one by magnitudes."""
    if array.dtype.kind == "c":
        array = np.abs(array)
    plane = np.atleast_1d(array.astype(np.float64))
    plane = plane.reshape(-1, plane.shape[-1])
    finite = np.isfinite(plane)
    farthest = float(np.max(np.abs(plane[finite]), initial=0.0))
    cells = _cells(plane, finite, farthest)
    rows, columns = plane.shape
    text = base64.b64encode(cells.tobytes()).decode()
    least = "0"
    if (plane[finite] < 0).any():
        least = f"−{farthest:.3g}"
    return HeatMap(rows, columns, text, f"{least} … {farthest:.3g}")


def _cells(
    plane: NDArray[np.float64], finite: NDArray[np.bool_], farthest: float
) -> NDArray[np.uint8]:
    parts = np.where(finite, plane, 0.0) / (farthest or 1.0)
    cells = np.round(ZERO + REACH * parts)
    return np.where(finite, cells, NOT_FINITE).astype(np.uint8)


ELEMENTS = 36
"""An output of at most this many elements is written out beside its figures."""

SOURCE_LINES = 3
"""The number of places of a node's source that are shown, the user's first."""

MOST_OUTPUTS = 6
"""Outputs of a node that are shown."""

Fact = tuple[str, str]


class Forward(msgspec.Struct, frozen=True):
    """The forward node that a backward node derives from: its id in sight, and its title."""

    id: str
    title: str


class OutputDetail(msgspec.Struct, frozen=True):
    """One output: its shape and dtype, its figures, and its values as digits or as a heat map."""

    shape: str
    figures: str = ""
    values: str = ""
    map: HeatMap | None = None


class NodeDetail(msgspec.Struct, frozen=True):
    """A node's title, its facts under labels, its arguments, the places of its source, its outputs.

    An argument is its name and its value.
    """

    title: str
    facts: tuple[Fact, ...]
    arguments: tuple[Fact, ...]
    source: tuple[str, ...]
    outputs: tuple[OutputDetail, ...]
    forward: Forward | None = None


def node_detail(
    node: Node, nodes: Mapping[str, Node], members: tuple[Node, ...] = ()
) -> NodeDetail:
    """The detail of one of the ``nodes`` in sight; ``members`` are those that it shows."""
    return NodeDetail(
        title=title(node),
        facts=tuple(_facts(node, members)),
        arguments=argument_facts(node.arguments),
        source=places(node),
        outputs=tuple(map(_output, node.outputs[:MOST_OUTPUTS])),
        forward=_forward(node.forward, nodes),
    )


def argument_facts(arguments: Arguments) -> tuple[Fact, ...]:
    """Arguments, each as its name and its value."""
    return tuple((clean(name), value_text(name, value)) for name, value in arguments.items())


def title(node: Node) -> str:
    """What a node is called: its name, where it has one, and its operator."""
    if node.name and node.name != node.op:
        return clean(f"{node.name} · {node.op}")
    return clean(node.op)


def places(node: Node) -> tuple[str, ...]:
    """The places of a node's source that are shown."""
    return tuple(map(clean, node.source[:SOURCE_LINES]))


def _forward(id_: str | None, nodes: Mapping[str, Node]) -> Forward | None:
    forward = nodes.get(id_ or "")
    if forward is None:
        return None
    return Forward(forward.id, title(forward))


def _facts(node: Node, members: tuple[Node, ...]) -> Iterator[Fact]:
    phase = _("forward") if node.phase == "forward" else _("backward")
    yield (
        _("node"),
        _("{id}, {phase} {kind}, step {step}").format(
            id=node.id, phase=phase, kind=_(node.kind), step=node.order
        ),
    )
    if members:
        yield _("shows"), _("{n} nodes as one").format(n=len(members))
    if node.scope:
        yield _("module"), clean(node.scope)
    if node.tape:
        yield _("on the tape"), clean(node.tape)
    if node.body:
        yield _("subgraph"), clean(node.body)
    if node.saved_bytes:
        one, several = _("1 byte for backward"), _("{n} bytes for backward")
        text = one if node.saved_bytes == 1 else several
        yield _("saves"), text.format(n=node.saved_bytes)
    if node.outputs and not members:
        yield _("value"), proof_text(node)
    for what, absence in sorted(node.missing.items()):
        if what != "proof":
            yield what_is_missing(what), clean(why_missing(absence))


def proof_text(node: Node) -> str:
    """Whether a node's value is proven, and why not where that is known."""
    texts = {
        "proven": _("proven: its op, computed again alone from the recorded inputs, gives it"),
        "refuted": _("refuted: its op, computed again from the recorded inputs, gives another one"),
        "unproven": _("not proven"),
        "": _("not computed again"),
    }
    absence = node.missing.get("proof")
    text = texts[node.proof]
    if not absence:
        return text
    return _("{values} ({facts})").format(values=text, facts=clean(why_missing(absence)))


def _output(output: Output) -> OutputDetail:
    shape = "×".join(map(str, output.shape)) or _("scalar")
    told = f"{shape} {clean(output.dtype)}"
    summary = output.values
    if summary is None:
        return OutputDetail(told)
    figures = _figures(summary, output)
    if summary.whole is None:
        return OutputDetail(told, figures)
    whole = unpack(summary.whole)
    if whole.size <= ELEMENTS:
        return OutputDetail(told, figures, digits(whole, ELEMENTS))
    if whole.dtype.kind not in "fciub":
        return OutputDetail(told, figures)
    return OutputDetail(told, figures, map=heat_map(whole))


def _figures(values: Summary, output: Output) -> str:
    parts = []
    # The figures of a single number would say it four times more.
    if math.prod(output.shape) != 1:
        parts += [
            _("min {value}").format(value=f"{values.minimum:.5g}"),
            _("mean {value}").format(value=f"{values.mean:.5g}"),
            _("max {value}").format(value=f"{values.maximum:.5g}"),
            _("norm {value}").format(value=f"{values.norm:.5g}"),
        ]
    if values.zeros:
        text = _("1 zero") if values.zeros == 1 else _("{n} zeros")
        parts.append(text.format(n=values.zeros))
    if values.nonfinite:
        parts.append(_("{n} not finite").format(n=values.nonfinite))
    if output.noise:
        parts.append(_("noise {value}").format(value=f"{output.noise:.2g}"))
    return ", ".join(parts)


class PairDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what two nodes are a pair, by how much their values differ, and where, as a heat map.

    ``arguments`` and ``settings`` are the names of those of their ops and of their layers that both
    have with different values.
    """

    evidence: str
    difference: str = ""
    map: HeatMap | None = None
    arguments: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


def evidence(how: How) -> str:
    """By what a pair is recognised."""
    texts: dict[How, str] = {
        "name": _("recognised by a name that both engines give"),
        "value": _("recognised by a value that nothing else has"),
        "value+provenance": _("recognised by equal values, and where they come from"),
        "value+order": _("recognised by equal values, and the order of execution"),
        "transposed": _("recognised by the same numbers, transposed"),
        "reordered": _("recognised by the same numbers in another order"),
        "provenance": _("recognised by where they come from; the value itself does not tell"),
        "across": _("recognised by the same value, computed in the other phase"),
    }
    return texts[how]


def pair_detail(pair: Pair, left: Node, right: Node) -> PairDetail:
    """The detail of a pair of two nodes that stand for themselves."""
    said = _("Pair {n}, {evidence}.").format(n=pair.number, evidence=evidence(pair.how))
    one, other = _array(left, pair.left_output), _array(right, pair.right_output)
    if one is None or other is None:
        return PairDetail(said, _("Their elements are not compared here: compare their figures."))
    if pair.how == "reordered":
        return PairDetail(said, _("Their elements stand in another order: compare their figures."))
    if pair.how == "transposed":
        other = other.T
    return _compared(said, one, other)


def divergence_detail(sentence: str, left: Node, right: Node) -> PairDetail:
    """The detail of two nodes at which the graphs have different values, as ``sentence`` says."""
    arrays = _array(left, 0), _array(right, 0)
    said = clean(sentence).replace("`", "")  # no Markdown is shown there
    if arrays[0] is None or arrays[1] is None:
        return PairDetail(said)
    return _compared(said, arrays[0], arrays[1])


def step_detail(pair: Pair) -> PairDetail:
    """The detail of a step that the partner takes inside itself."""
    said = _("Pair {n}, a step that one op of the other side takes inside itself.")
    return PairDetail(said.format(n=pair.number))


def modules_detail(pairs: int) -> PairDetail:
    """The detail of two nodes that show several each, with so many pairs between them."""
    one = _("1 pair joins what these two show.")
    several = _("{n} pairs join what these two show.")
    return PairDetail((one if pairs == 1 else several).format(n=pairs))


def alone(unpaired: Unpaired, engines: Engines) -> str:
    """Why a node has no partner; ``engines`` are those of the left and the right graph."""
    reason = _("{what}: {values}").format(
        what=_(REASONS[unpaired.reason]), values=detail(unpaired, engines)
    )
    whole = _("{text}.").format(text=reason)
    return _("No node here is its pair. {reason}").format(reason=clean(whole))


def _array(node: Node, slot: int) -> AnyArray | None:
    whole = node.whole(slot)
    return None if whole is None else unpack(whole)


def _compared(said: str, one: AnyArray, other: AnyArray) -> PairDetail:
    if one.size != other.size:
        return PairDetail(
            said,
            _("Their shapes differ: {one} and {other}.").format(
                one=list(one.shape), other=list(other.shape)
            ),
        )
    # Equal up to layout: one of the two may have an axis of length one more.
    is_complex = "c" in (one.dtype.kind, other.dtype.kind)
    kind = np.complex128 if is_complex else np.float64
    left, right = one.astype(kind), other.astype(kind).reshape(one.shape)
    differences = elementwise_difference(real_parts(left), real_parts(right))
    if is_complex:
        # An element is as far off as the worse of its parts.
        differences = differences.max(axis=-1)
    if not differences.any():
        return PairDetail(said, _("Equal in every element."))
    index = np.unravel_index(int(np.argmax(differences)), differences.shape)
    place = list(map(int, index))
    text = _("Greatest difference {value} at {index}: {left} on the left, {right} on the right.")
    if np.isinf(differences[index]):
        text = _("Not the same nan or inf at {index}: {left} on the left, {right} on the right.")
    told = text.format(
        value=f"{differences[index]:.3g}",
        index=place,
        left=f"{left[index]:.7g}",
        right=f"{right[index]:.7g}",
    )
    if one.size <= ELEMENTS:
        return PairDetail(said, told)
    return PairDetail(said, told, heat_map(differences))
