"""What changed between releases of PyTorch: which gradient, at which op, in which versions."""

from typing import NamedTuple

NAN = float("nan")

Version = tuple[int, int]


class Change(NamedTuple):
    """The gradient with respect to one input of a net, and the op of backward that changed it.

    ``last`` is the newest version that was seen to give ``before``, ``first`` the oldest that was
    seen to give ``after``.
    """

    net: str
    op: str
    leaf: str
    last: Version
    before: tuple[float, ...]
    first: Version
    after: tuple[float, ...]


CHANGES = (
    Change(
        "attention_with_masked_row",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        "dv",
        (2, 4),
        (NAN, NAN, NAN, NAN),
        (2, 6),
        (1, 1, 0, 0),
    ),
    Change(
        "hardswish_at_minus_three",
        "aten.hardswish_backward.default",
        "dx",
        (2, 6),
        (0, -1, 1, 3),
        (2, 8),
        (0, 0, 1, 2),
    ),
    Change(
        "angle_at_origin",
        "aten.div.Tensor",
        "dy",
        (2, 8),
        (NAN, 0.8),
        (2, 10),
        (0, 0.8),
    ),
    Change(
        "clamp_at_bounds",
        "aten.where.self",
        "dx",
        (2, 13),
        (0, 3, 3, 3),
        (2, 14),
        (0, 0, 3, 0),
    ),
    Change(
        "fmax_at_ties",
        "aten.masked_fill.Scalar",
        "dx",
        (2, 13),
        (0, 3, 3),
        (2, 14),
        (0, 1.5, 1.5),
    ),
    Change(
        "margin_at_zero",
        "aten.clamp_min.default",
        "dfirst",
        (2, 13),
        (-1 / 3, -1 / 3, 1 / 3),
        (2, 14),
        (0, -1 / 3, 1 / 3),
    ),
)
