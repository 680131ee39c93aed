"""What joins a node with its partner on the other side: the evidence, and the difference."""

import msgspec
import numpy as np

from explorer.model.alignment import How, Pair
from explorer.model.arrays import AnyArray, unpack
from explorer.model.graph import Node
from explorer.model.unpaired import Unpaired
from explorer.numeric.differences import elementwise_difference
from explorer.pair.heat_map import HeatMap, heat_map
from explorer.pair.node_detail import ELEMENTS
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.words.divergences import Engines
from explorer.words.unpaired import detail


class PairDetail(msgspec.Struct, frozen=True):
    """By what two nodes are a pair, by how much their values differ, and where, as a heat map."""

    evidence: str
    difference: str = ""
    map: HeatMap | None = None


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
    arrays = _array(left, pair.left_output), _array(right, pair.right_output)
    if arrays[0] is None or arrays[1] is None:
        return PairDetail(said, _("Their elements are not compared here: compare their figures."))
    if pair.how == "reordered":
        return PairDetail(said, _("Their elements stand in another order: compare their figures."))
    other = arrays[1].T if pair.how == "transposed" else arrays[1]
    return _compared(said, arrays[0], other)


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
    return PairDetail(_("{n} pairs join what these two show.").format(n=pairs))


def alone(unpaired: Unpaired, engines: Engines) -> str:
    """Why a node has no partner; ``engines`` are those of the left and the right graph."""
    reason = clean(f"{unpaired.reason.capitalize()}: {detail(unpaired, engines)}.")
    return _("No node here is its pair. {reason}").format(reason=reason)


def _array(node: Node, slot: int) -> AnyArray | None:
    summary = node.outputs[slot].values if slot < len(node.outputs) else None
    array = unpack(summary.whole) if summary and summary.whole else None
    return None if array is None or array.dtype.kind == "c" else array


def _compared(said: str, one: AnyArray, other: AnyArray) -> PairDetail:
    if one.size != other.size:
        return PairDetail(
            said,
            _("Their shapes differ: {one} and {other}.").format(
                one=list(one.shape), other=list(other.shape)
            ),
        )
    # Equal up to layout: one of the two may have an axis of length one more.
    left, right = one.astype(np.float64), other.astype(np.float64).reshape(one.shape)
    differences = elementwise_difference(left, right)
    if not differences.any():
        return PairDetail(said, _("Equal in every element."))
    index = np.unravel_index(int(np.argmax(differences)), differences.shape)
    place = [int(position) for position in index]
    text = _("Greatest difference {value} at {index}: {left} on the left, {right} on the right.")
    told = text.format(
        value=f"{differences[index]:.3g}",
        index=place,
        left=f"{left[index]:.7g}",
        right=f"{right[index]:.7g}",
    )
    drawn = heat_map(differences)
    return PairDetail(said, told, drawn if one.size > ELEMENTS else None)
