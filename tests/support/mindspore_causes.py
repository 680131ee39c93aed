"""A library of mistakes of ports where PyTorch's side is written in several ops, MindSpore's as one.

Each has the arguments of MindSpore's op that explain the difference, or the operator or function that
does.
"""

from tests.support.causes import IMAGE, MATRIX, VOLUME, Mistake

NORMALISED = (
    "(h - h.mean({axes}, keepdim=True))"
    " / torch.sqrt(h.var({axes}, correction=0, keepdim=True) + 1e-5)"
)

BY_HAND: dict[str, Mistake] = {
    "gelu by erf": Mistake(
        "nn.GELU()", "h * 0.5 * (1 + torch.erf(h / 2**0.5))", MATRIX, {}, other_op="ops.gelu"
    ),
    "gelu by tanh": Mistake(
        "nn.ReLU()",
        "0.5 * h * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (h + 0.044715 * h**3)))",
        MATRIX,
        {},
        other_op="GeLU",
    ),
    "silu": Mistake("nn.ReLU()", "h * torch.sigmoid(h)", MATRIX, {}, other_op="SiLU"),
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
    "eps of batch norm": Mistake(
        "nn.BatchNorm2d(3, eps=1e-2)",
        NORMALISED.format(axes=(0, 2, 3)),
        IMAGE,
        {"epsilon": 1e-5},
    ),
    "standard deviation of a sample": Mistake(
        "ops.std(h, axis=1)",
        "torch.sqrt(((h - h.mean(1, keepdim=True)) ** 2).sum(1) / 5)",
        MATRIX,
        {"unbiased": True},
    ),
    "axis of a norm": Mistake(
        "ops.L2Normalize(axis=0)(h)", "F.normalize(h, dim=1)", MATRIX, {"axis": (1,)}
    ),
    "padding counted": Mistake(
        "nn.AvgPool2d(3, 1, pad_mode='pad', padding=1, count_include_pad=False)",
        "F.avg_pool2d(F.pad(h, (1, 1, 1, 1)), 3, 1)",
        IMAGE,
        {"count_include_pad": True},
    ),
    "bound of clamp": Mistake(
        "ops.clamp(h, min=-0.5, max=0.7)",
        "torch.minimum(torch.maximum(h, h * 0 - 0.5), h * 0 + 0.5)",
        MATRIX,
        {"max": 0.5},
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
