"""Nodes and values in words: what a record has read of them."""

from collections.abc import Iterable

import numpy as np

from explorer.model.divergence import Gap, Likeness, Place, Reading, Readings, Row
from explorer.text.language import _
from explorer.text.numbers import FEW, digits, multiple
from explorer.words import lists

# Nodes


def place(node: Place) -> str:
    """A node as a reader finds it: `MatMul` (fc, net.py:12)."""
    call = _("called at {line}").format(line=node.caller) if node.caller else ""
    return labelled(node.label, node.scope, node.source, call)


def labelled(label: str, *where: str) -> str:
    """An op and where it is, as far as that is known: `MatMul` (fc, net.py:12)."""
    known = ", ".join(part for part in where if part)
    return f"`{label}` ({known})" if known else f"`{label}`"


def row(ops: Row) -> str:
    """Ops in a row: the first as a reader finds it, and the last by name."""
    if ops.count == 1:
        return place(ops.first)
    text = _("the {n} ops from {first} to `{last}`")
    return text.format(n=ops.count, first=place(ops.first), last=ops.last)


def listed(parts: Iterable[str]) -> str:
    """Some things in a row: "a, b and c"."""
    return lists.listed(list(parts))


# Values


MORE = (2, 4, 11, 12, 13)
"""So many significant digits are added until two numbers are told apart; 17 tell all floats apart."""


def readings(values: Readings) -> tuple[str, str]:
    """Two values, with as many digits as tell apart what is not equal."""
    one, other = values
    texts = reading(one), reading(other)
    for more in MORE:
        if texts[0] != texts[1] or one == other:
            break
        texts = reading(one, more), reading(other, more)
    return texts


def reading(value: Reading, more: int = 0) -> str:
    """What is read of a value: its elements, its shape, or why there are none.

    Numbers have ``more`` significant digits than usual.
    """
    if value.what == "elements":
        return digits(np.array(value.numbers).reshape(value.shape), precision=FEW + more)
    if value.what == "element":
        return f"{value.numbers[0]:.{6 + more}g}"
    if value.what == "factor":
        return f"{value.numbers[0]:.{4 + more}g}"
    shape = list(value.shape)
    if value.what == "mean":
        return _("shape {shape} with mean {mean}").format(
            shape=shape, mean=f"{value.numbers[0]:.{5 + more}g}"
        )
    texts = {
        "shape": _("shape {shape}").format(shape=shape),
        "unobserved": _("not recorded"),
        "absent": _("absent"),
        "stopped": _("stopped"),
        "finite": _("finite"),
        "nothing_finite": _("nothing finite"),
    }
    return texts[value.what]


def contrast(values: Readings, gap: Gap, *, is_reversed: bool = False) -> str:
    """Two values one after the other, and in brackets what is known about their difference.

    Where it ``is_reversed``, the right one comes first.
    """
    first, second = readings(values)[:: -1 if is_reversed else 1]
    text = _("{first} against {second}").format(first=first, second=second)
    known = []
    greatest = greatest_difference(gap)
    if greatest:
        known.append(greatest)
    if gap.likeness:
        known.append(likeness(gap.likeness, is_reversed=is_reversed))
    if not known:
        return text
    return _("{values} ({facts})").format(values=text, facts=_("; ").join(known))


def greatest_difference(gap: Gap) -> str:
    """The greatest difference, beside its noise where that was measured; "" where there is none."""
    if gap.greatest is None or (gap.is_least and not gap.greatest):
        return ""
    text = (
        _("elements differ by {figure} or more")
        if gap.is_least
        else _("greatest difference {figure}")
    )
    figure = text.format(figure=f"{gap.greatest:.3g}")
    if not gap.noise or gap.ratio is None:
        return figure
    text = _("{figure}, {ratio} × the noise of {noise}")
    return text.format(figure=figure, ratio=multiple(gap.ratio), noise=f"{gap.noise:.2g}")


def likeness(like: Likeness, *, is_reversed: bool = False) -> str:
    """What two different values have in common; where it ``is_reversed``, the right one is the first."""
    if like.what == "transposed":
        return _("the same numbers, transposed")
    if like.what == "reordered":
        return _("the same numbers in another order")
    if like.what == "opposite":
        return _("opposite in sign")
    factor = 1 / like.factor if is_reversed else like.factor
    if abs(factor) < 1:
        return _("the second is {n} times the first").format(n=f"{1 / factor:.5g}")
    return _("the first is {n} times the second").format(n=f"{factor:.5g}")
