"""What changed between releases of PyTorch: which gradient, at which op, in which versions."""

from typing import NamedTuple

NAN = float("nan")

Version = tuple[int, int]


class Change(NamedTuple):
    """The gradient with respect to one input of a net, and the ops at which two versions part.

    ``code`` is the body of the net, which has the ``inputs``. ``last`` is the newest version that was seen to
    give ``before``, ``first`` the oldest that was seen to give ``after``.
    """

    net: str
    code: str
    inputs: dict[str, object]
    ops: tuple[str, ...]
    leaf: str
    last: Version
    before: tuple[float, ...]
    first: Version
    after: tuple[float, ...]


CHANGES = (
    Change(
        "attention_with_masked_row",
        # One query may look at no key.
        "mask = torch.tensor([[True, False], [False, False]])\n"
        "return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).sum()",
        {"q": [[[[1, 0], [0, 1]]]], "k": [[[[0.5, 1], [1, 2]]]], "v": [[[[2, 0], [1, 3]]]]},
        ("aten._scaled_dot_product_flash_attention_for_cpu.default",),
        "dv",
        (2, 4),
        (NAN, NAN, NAN, NAN),
        (2, 6),
        (1, 1, 0, 0),
    ),
    Change(
        "hardswish_at_minus_three",
        "return (2 * torch.nn.functional.hardswish(x)).sum()",
        {"x": [-4, -3, 0, 3]},
        ("aten.hardswish_backward.default",),
        "dx",
        (2, 6),
        (0, -1, 1, 3),
        (2, 8),
        (0, 0, 1, 2),
    ),
    Change(
        "angle_at_origin",
        "return (2 * torch.atan2(y, x)).sum()",
        {"y": [0, 1], "x": [0, 2]},
        # By the reciprocal of a square of 0; 2.10 puts a masked_fill before it.
        ("aten.mul.Tensor",),
        "dy",
        (2, 8),
        (NAN, 0.8),
        (2, 10),
        (0, 0.8),
    ),
    Change(
        "clamp_at_bounds",
        "return (3 * torch.clamp(x, -1.0, 1.0)).sum()",
        {"x": [-2, -1, 0.5, 1]},
        ("aten.where.self",),
        "dx",
        (2, 13),
        (0, 3, 3, 3),
        (2, 14),
        (0, 0, 3, 0),
    ),
    Change(
        "fmax_at_ties",
        "return (3 * torch.fmax(x, y)).sum()",
        {"x": [-1, 0.5, 2], "y": [1, 0.5, 2]},
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
        "return torch.nn.functional.margin_ranking_loss(first, second, sign)",
        {"first": [1, 2, 3], "second": [1, 4, 0], "sign": [1, 1, -1]},
        ("aten.ge.Scalar",),  # 2.14 asks for greater
        "dfirst",
        (2, 13),
        (-1 / 3, -1 / 3, 1 / 3),
        (2, 14),
        (0, -1 / 3, 1 / 3),
    ),
)
