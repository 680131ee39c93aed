"""What changed between releases of PyTorch: which gradient, at which op, in which versions."""

from typing import NamedTuple

NAN = float("nan")

Version = tuple[int, int]


class Change(NamedTuple):
    """The gradient with respect to one input of a net, and the ops at which two versions part.

    ``last`` is the newest version that was seen to give ``before``, ``first`` the oldest that was
    seen to give ``after``.
    """

    net: str
    ops: tuple[str, ...]
    leaf: str
    last: Version
    before: tuple[float, ...]
    first: Version
    after: tuple[float, ...]


CHANGES = (
    Change(
        "attention_with_masked_row",
        ("aten._scaled_dot_product_flash_attention_for_cpu.default",),
        "dv",
        (2, 4),
        (NAN, NAN, NAN, NAN),
        (2, 6),
        (1, 1, 0, 0),
    ),
    Change(
        "hardswish_at_minus_three",
        ("aten.hardswish_backward.default",),
        "dx",
        (2, 6),
        (0, -1, 1, 3),
        (2, 8),
        (0, 0, 1, 2),
    ),
    Change(
        "angle_at_origin",
        (
            "aten.mul.Tensor",
        ),  # by the reciprocal of a square of 0: 2.10 puts a masked_fill before it
        "dy",
        (2, 8),
        (NAN, 0.8),
        (2, 10),
        (0, 0.8),
    ),
    Change(
        "clamp_at_bounds",
        ("aten.where.self",),
        "dx",
        (2, 13),
        (0, 3, 3, 3),
        (2, 14),
        (0, 0, 3, 0),
    ),
    Change(
        "fmax_at_ties",
        # 2.14 divides by 2, of which 2.13 has none; 2.15 asks for greater.
        ("aten.div.Scalar", "aten.logical_or_.default", "aten.logical_or.default"),
        "dx",
        (2, 13),
        (0, 3, 3),
        (2, 14),
        (0, 1.5, 1.5),
    ),
    Change(
        "margin_at_zero",
        ("aten.ge.Scalar",),  # 2.14 asks for greater
        "dfirst",
        (2, 13),
        (-1 / 3, -1 / 3, 1 / 3),
        (2, 14),
        (0, -1 / 3, 1 / 3),
    ),
)
