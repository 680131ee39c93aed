"""Nets whose two sides differ by something that is known, and others that differ by a mistake.

Each side is an expression of the inputs, statements that return, or a layer, which is called with ``x``
and squared; behind ``;;`` are statements in which it is ``self.layer``.
"""

from pathlib import Path
from typing import NamedTuple

from tests.support.scenario_files import written
from tests.support.twin_nets import in_mindspore
from tests.support.two_sided import Side, scenario_text

TAPES = ("torch-tape", "mindspore-tape")
GRAPH = ("torch-tape", "mindspore-graph")
MINDSPORE = ("mindspore-tape", "mindspore-graph")
GRAPHS = ("torch-graph", "mindspore-graph")


class Net(NamedTuple):
    """Both sides, the inputs, the engines, and what is known: "claim 43", "selu"; () for nothing."""

    mindspore: str
    torch: str
    inputs: str
    known: tuple[str, ...] = ()
    engines: tuple[str, str] = TAPES
    train: bool = True


def twin(
    code: str, inputs: str, *known: str, engines: tuple[str, str] = TAPES, train: bool = True
) -> Net:
    """A net whose sides are the same but for the frameworks' names; ``code`` is PyTorch's."""
    return Net(in_mindspore(code), code, inputs, known, engines, train)


MATRIX, IMAGE = "x=normal(4, 6)", "x=normal(2, 3, 8, 8)"
KINK = "x=floats(-1, 0, 0, 1)"
PAIR = "x=normal(4, 3), y=normal(4, 3)"
EMBEDDING = "nn.Embedding(5, 3, padding_idx=0);;return self.layer(x).sum()"
INDICES = "x=np.array([0, 1, 2, 0], np.int32)"
ONE_HOT = "x=normal(4, 3), y=np.eye(4, 3, dtype=np.float32)"
BATCH_NORM = "nn.BatchNorm2d(3, momentum=0.1)"
LABEL = "x=floats(-2, -0.5, 0.5, 2), y=floats(0, 1, 0.3, 1)"
MASKED = "x=np.array([[1, 2, 3], [-inf, -inf, -inf]], np.float32)"
WITH_NAN = "x=floats(nan, 1, 3, 0), y=floats(2, 2, 2, 2)"
ADDED = "h = ops.exp(x)\nh.add_(1.0)\nreturn (h * h).sum()"
VIEWED = "h = x * 1.0\nv = h.view(2, 2)\nv[0, 1] = 9.0\nreturn (h * h).sum()"

NETS: dict[str, Net] = {
    "momentum": twin(BATCH_NORM, IMAGE, "claim 43"),
    "no running statistics": Net(
        "nn.BatchNorm2d(3)",
        "nn.BatchNorm2d(3, track_running_stats=False)",
        IMAGE,
        ("claim 42",),
        train=False,
    ),
    "epsilon": twin("nn.LayerNorm((6,))", MATRIX, "layer_norm_epsilon"),
    "same with a stride": Net(
        "nn.Conv2d(3, 4, 3, stride=2, has_bias=True)",
        "nn.Conv2d(3, 4, 3, stride=2, padding=1)",
        IMAGE,
        ("strided_padding", "claim 47"),
    ),
    "same pooling": Net(
        "nn.MaxPool2d(3, 2, pad_mode='same')",
        "nn.MaxPool2d(3, 2, padding=1)",
        IMAGE,
        ("claim 47",),
    ),
    "same by default": Net(
        "nn.Conv2d(3, 4, 3, has_bias=True)", "nn.Conv2d(3, 4, 3)", IMAGE, ("claim 69",)
    ),
    "zeros pooled": Net(
        "return ops.max_pool2d(ops.pad(x, (1, 1, 1, 1)), 2, 2).sum()",
        "return F.max_pool2d(x, 2, 2, padding=1).sum()",
        IMAGE,
        ("claim 87",),
    ),
    "dropout": twin("nn.Dropout(0.3)", "x=normal(8, 60)", "claim 41"),
    "dropout, compiled": twin("nn.Dropout(0.3)", "x=normal(8, 60)", "claim 41", engines=GRAPH),
    "transpose": Net(
        "ops.transpose(x, (0, 1)) * x.sum(0)",
        "x.transpose(0, 1) * x.sum(0)",
        "x=normal(5, 5)",
        ("claim 44",),
    ),
    "rrelu": twin("nn.RReLU()", MATRIX, "rrelu_evaluation", train=False),
    "loss": Net(
        "return nn.SoftmaxCrossEntropyWithLogits()(x, y)",
        "return F.cross_entropy(x, y)",
        ONE_HOT,
        ("loss_reduction",),
    ),
    "padding row": twin(EMBEDDING, INDICES, "padding_index"),
    "padding row, compiled": twin(EMBEDDING, INDICES, "padding_index", engines=GRAPH),
    "tanh": twin("torch.tanh(x)", "x=floats(5, -5, 1, 2)", "saturated_tanh"),
    "log1p": twin("return torch.log1p(x).sum()", "x=floats(1e-6, 2e-6)", "lost_digits"),
    "expm1": twin(
        "return torch.expm1(x).sum()", "x=floats(1e-6, 2e-6)", "lost_digits", engines=GRAPH
    ),
    "softplus": twin("F.softplus(x)", "x=floats(*[-14] * 9)", "unequal_outputs"),
    "elu": twin("F.elu(x)", "x=floats(*[-1e-5] * 9)", "unequal_outputs"),
    "number of double precision": twin(
        "x * 0.1", "x=normal(4).astype(np.float64)", "double_precision"
    ),
    "celu": twin("F.celu(x)", "x=normal(4, 5).astype(np.float64)", "single_precision_inside"),
    "log softmax": twin(
        "torch.log_softmax(x, -1)", "x=normal(4, 5).astype(np.float64)", "single_precision_inside"
    ),
    "masked row": twin("torch.softmax(x, -1)", MASKED, "masked_row"),
    "minimum": twin("return torch.minimum(x, y).sum()", WITH_NAN, "nan_minimum"),
    "maximum": twin("return torch.maximum(x, y).sum()", WITH_NAN, "nan_minimum", engines=GRAPH),
    "selu": twin("torch.selu(x)", MATRIX, "selu"),
    "selu, compiled": Net("nn.SeLU()", "nn.SELU()", MATRIX, ("selu",), GRAPH),
    "label": Net(
        "return ops.SigmoidCrossEntropyWithLogits()(x, y).sum()",
        "return F.binary_cross_entropy_with_logits(x, y, reduction='sum')",
        LABEL,
        ("label_gradient",),
    ),
    "power": twin("return (x**0.0).sum()", KINK, "power_of_zero"),
    "power of a tensor": twin(
        "return torch.pow(x, y).sum()",
        "x=floats(0, 1, 2), y=floats(0, 0, 0)",
        "power_of_zero",
        engines=GRAPH,
    ),
    "norm": twin("return torch.norm(x)", "x=floats(0, 0)", "zero_norm"),
    "norm of both graphs": twin(
        "return torch.norm(x)", "x=floats(0, 0)", "zero_norm", engines=GRAPHS
    ),
    "deviation": twin("return torch.std(x)", "x=floats(2, 2, 2)", "zero_norm"),
    "arc tangent": twin(
        "return torch.atan2(x, y).sum()", "x=floats(0, 1), y=floats(0, 2)", "zero_norm"
    ),
    "relu6": twin("return F.relu6(x).sum()", "x=floats(-1, 0, 6, 1)", "slopes_at_bounds"),
    "hardtanh": twin(
        "return F.hardtanh(x).sum()", "x=floats(-1, 0, 1, 2)", "slopes_at_bounds", engines=GRAPH
    ),
    "hardswish": twin("return F.hardswish(x).sum()", "x=floats(-3, 0, 3, 2)", "slopes_at_bounds"),
    "infinity norm": Net(
        "return ops.norm(x, inf)",
        "return torch.linalg.vector_norm(x, inf)",
        "x=floats(2, -2, 1)",
        ("slopes_at_bounds",),
    ),
    "relu by maximum": Net(
        "return ops.maximum(x, ops.zeros_like(x)).sum()",
        "return torch.relu(x).sum()",
        KINK,
        ("relu_at_zero",),
    ),
    "relu by clamp": Net(
        "return ops.clamp(x, min=0.0).sum()",
        "return torch.relu(x).sum()",
        KINK,
        ("relu_at_zero",),
        GRAPH,
    ),
    "tied": Net(
        "return ops.max(x, axis=0)[0]", "return x.amax(0)", "x=floats(3, 3, 1)", ("relu_at_zero",)
    ),
    "one tensor": twin(
        "return (x * y).sum()",
        "**dict.fromkeys('xy', normal(4))",
        "same_tensor_twice",
        "claim 31",
        engines=GRAPH,
    ),
    "in place": twin(
        "h = torch.sin(x)\nh.mul_(2.0)\nreturn (h * h).sum()", MATRIX, "in_place_nothing"
    ),
    "in place, both styles": Net(ADDED, "return x.sum()", MATRIX, ("in_place_nothing",), MINDSPORE),
    "saved result": Net(
        ADDED, "h = torch.exp(x) + 1.0\nreturn (h * h).sum()", MATRIX, ("in_place_exp",), GRAPH
    ),
    "view": twin(VIEWED, "x=normal(4)", "view_write"),
}
"""Nets with something that is known, at least one for each row of the table."""

MISTAKES: dict[str, Net] = {
    "relu for gelu": Net("nn.ReLU()", "nn.GELU()", MATRIX),
    "momentum of a longer memory": Net(
        "nn.BatchNorm2d(3, momentum=0.99)", "nn.BatchNorm2d(3)", IMAGE
    ),
    "axes swapped before layer norm": Net(
        "nn.LayerNorm((6,), epsilon=1e-5);;return (self.layer(x.swapaxes(0, 1)) * x).sum()",
        "nn.LayerNorm((6,));;return (self.layer(x) * x).sum()",
        "x=normal(6, 6)",
    ),
    "epsilon of one's own": Net("nn.LayerNorm((6,), epsilon=1e-2)", "nn.LayerNorm((6,))", MATRIX),
    "less padding": Net(
        "nn.Conv2d(3, 4, 3, stride=2, pad_mode='valid', has_bias=True)",
        "nn.Conv2d(3, 4, 3, stride=2, padding=1)",
        IMAGE,
    ),
    "other rates": Net("nn.Dropout(p=0.2)", "nn.Dropout(0.3)", "x=normal(8, 60)"),
    "axes in another order": Net(
        "ops.transpose(x, (0, 2, 1)) * x[0]", "x.transpose(0, 1) * x[0]", "x=normal(4, 4, 4)"
    ),
    "sigmoid for tanh": Net("ops.sigmoid(x)", "torch.tanh(x)", "x=floats(5, -5, 1, 2)"),
    "another number of double precision": Net(
        "x * 0.2", "x * 0.1", "x=normal(4).astype(np.float64)"
    ),
    "alpha of celu": Net("ops.celu(x, 2.0)", "F.celu(x)", "x=normal(4, 5).astype(np.float64)"),
    "beta of softplus": Net("ops.softplus(x, 2)", "F.softplus(x)", "x=floats(*[-4] * 9)"),
    "axis of softmax": Net(
        "ops.softmax(x, -1)",
        "torch.softmax(x, 0)",
        "x=np.array([[1, -inf, 2], [3, -inf, 1]], np.float32)",
    ),
    "minimum for maximum": Net(
        "return ops.minimum(x, y).sum()", "return torch.maximum(x, y).sum()", PAIR
    ),
    "elu for selu": Net("ops.elu(x)", "torch.selu(x)", MATRIX),
    "label without gradient": Net(
        "return ops.binary_cross_entropy_with_logits(x, ops.stop_gradient(y), ops.ones_like(x),"
        " ops.ones_like(x), reduction='sum')",
        "return F.binary_cross_entropy_with_logits(x, y, reduction='sum')",
        LABEL,
    ),
    "another power": Net("return (x**2.0).sum()", "return (x**3.0).sum()", KINK),
    "another norm": Net("return ops.norm(x)", "return torch.norm(x, p=1)", "x=floats(1, 2, 0)"),
    "relu for relu6": Net(
        "return ops.relu(x).sum()", "return F.relu6(x).sum()", "x=floats(-1, 0, 6, 8)"
    ),
    "bound of hardtanh": Net(
        "return (ops.hardtanh(x) ** 2).sum()",
        "return (F.hardtanh(x, -1.0, 0.5) ** 2).sum()",
        "x=floats(0, 0.5, 0.7, 2)",
    ),
    "relu by another clamp": Net(
        "return ops.clamp(x, min=0.5).sum()", "return torch.relu(x).sum()", "x=floats(0, 0.5, 1)"
    ),
    "no padding row": Net("nn.Embedding(5, 3);;return self.layer(x).sum()", EMBEDDING, INDICES),
    "a sum for a mean": Net(
        "return ops.cross_entropy(x, y, reduction='sum')", "return F.cross_entropy(x, y)", ONE_HOT
    ),
    "one that is not added": Net(
        "h = ops.exp(x)\nreturn (h * h).sum()",
        "h = torch.exp(x) + 1.0\nreturn (h * h).sum()",
        MATRIX,
    ),
    "two for one": Net(
        "h = ops.exp(x)\nh = h + 2.0\nreturn (h * h).sum()",
        "h = torch.exp(x) + 1.0\nreturn (h * h).sum()",
        MATRIX,
        engines=GRAPH,
    ),
    "nothing is written": Net("h = x * 1.0\nreturn (h * h).sum()", VIEWED, "x=normal(4)"),
}
"""Nets with a mistake at the same ops, of which nothing is known."""

INPUTS = """
draw = np.random.default_rng(3)

def normal(*shape):
    return draw.normal(size=shape).astype(np.float32)

def floats(*numbers):
    return np.array(numbers, np.float32)

return dict({inputs})
"""


def file_with(net: Net, folder: Path) -> Path:
    """A scenario file with a net."""
    text = scenario_text(
        INPUTS.format(inputs=net.inputs),
        _side(net.mindspore),
        _side(net.torch),
        "x, y" if "y=" in net.inputs or "'xy'" in net.inputs else "x",
        f"TRAIN = {net.train}\ninf, nan = float('inf'), float('nan')",
    )
    return written(folder, text, "known.py")


def _side(code: str) -> Side:
    layer, _, body = code.rpartition(";;")
    if layer:
        return Side(f"self.layer = {layer}", body)
    if code.startswith("nn."):
        return Side(f"self.layer = {code}", "value = self.layer(x)\nreturn (value * value).sum()")
    return Side("", code if "return" in code else f"value = {code}\nreturn (value * value).sum()")
