"""A library of mistakes of ports where PyTorch's side is written in several ops, MindSpore's as one.

Each has the arguments of MindSpore's op that explain the difference, or the operator or function that
does.
"""

from tests.support.causes import MATRIX, VOLUME, Mistake

NORMALISED = (
    "(h - h.mean({axes}, keepdim=True))"
    " / torch.sqrt(h.var({axes}, correction=0, keepdim=True) + 1e-5)"
)

BY_HAND: dict[str, Mistake] = {
    "gelu by erf": Mistake(
        "nn.GELU()", "h * 0.5 * (1 + torch.erf(h / 2**0.5))", MATRIX, {}, other_op="ops.gelu"
    ),
    "axis of softmax": Mistake(
        "ops.softmax(h, axis=0)",
        "torch.exp(h) / torch.exp(h).sum(1, keepdim=True)",
        MATRIX,
        {"axis": (1,)},
    ),
    "axis of log softmax": Mistake(
        "nn.LogSoftmax(axis=0)",
        "h - torch.logsumexp(h, 1, keepdim=True)",
        MATRIX,
        {"axis": 1},
    ),
    "eps of layer norm": Mistake(
        "nn.LayerNorm((6,), epsilon=1e-2)",
        NORMALISED.format(axes=-1),
        VOLUME,
        {"epsilon": 1e-5},
    ),
    "axis of a norm": Mistake(
        "ops.L2Normalize(axis=0)(h)", "F.normalize(h, dim=1)", MATRIX, {"axis": (1,)}
    ),
    "the axis that is right": Mistake(
        "ops.softmax(h, axis=1)", "torch.exp(h) / torch.exp(h).sum(1, keepdim=True)", MATRIX, None
    ),
    "eps of another formula": Mistake(
        "nn.LayerNorm((6,), epsilon=1e-2)",
        "(h - h.mean(-1, keepdim=True)) / (h.std(-1, correction=0, keepdim=True) + 0.3)",
        VOLUME,
        None,
    ),
}
