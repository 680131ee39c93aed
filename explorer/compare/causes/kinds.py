"""What operators of a framework may be given instead, and which may stand in each other's place."""

from explorer.model.graph import ArgumentValue

FEW_VALUES: dict[str, tuple[ArgumentValue, ...]] = {
    "approximate": ("none", "tanh"),
    "reduction": ("mean", "sum", "none"),
    "correction": (0, 1),
    "padding_idx": (-1,),
    "ignore_index": (-100,),
    "pad_mode": ("valid", "same", "pad"),
    "padding_mode": ("zeros", "border", "reflection"),
    "interpolation_mode": ("bilinear", "nearest", "bicubic"),
}
"""The values of arguments that are one of few; a padding_idx of -1 is none."""

POSITIONS = frozenset({"start", "end", "diagonal", "index", "shifts", "offset"})
"""Arguments that are places: it may be that one is off by one."""

LAST = 2**63 - 1
"""The end of a slice that ends with its axis."""

AXES = frozenset({"dim", "start_dim", "end_dim", "axis", "axes"})
"""Arguments that are an axis, or a sequence of axes."""

USUAL: dict[str, tuple[ArgumentValue, ...]] = {
    "eps": (1e-5, 1e-6, 1e-7, 1e-8, 1e-12, 1e-3, 0.0),
    "epsilon": (1e-5, 1e-6, 1e-7, 1e-8, 1e-12, 1e-3, 0.0),
    "negative_slope": (0.01, 0.2),
    "beta": (1.0, 0.5),
}
"""Values of arguments that are tried although the other side is given none."""

WINDOWS: dict[str, tuple[int, ...]] = {
    "padding": (0, 1, 2, 3),
    "stride": (1, 2),
    "dilation": (1, 2),
}
"""Numbers of windows that are tried along all of their axes."""

WINDOW_NAMES = frozenset(
    {"padding", "stride", "dilation", "pad", "pad_mode", "kernel_size", "strides"}
)
"""Arguments of windows, of which two are often another way to say one thing."""

FIXED = frozenset(
    {
        "dtype",
        "size",
        "output_mask",
        "input_dtype",
        "self_sizes",
        "input_sizes",
        # MindSpore's.
        "shape",
        "data_format",
        "begin_norm_axis",
        "begin_params_axis",
        "normalized_shape",
        "kernel_size",
        "out_channel",
        "mode",
        "output_num",
        "skip_mode",
        "batch_dims",
        "Seed0",
        "Seed1",
    }
)
"""Arguments that shape a value, or say which values are made: no other one would give this value."""

TORCH_KINDS: tuple[tuple[str, ...], ...] = (
    (
        "aten.relu.default",
        "aten.relu6.default",
        "aten.silu.default",
        "aten.gelu.default",
        "aten.tanh.default",
        "aten.sigmoid.default",
        "aten.softplus.default",
        "aten.elu.default",
        "aten.mish.default",
        "aten.leaky_relu.default",
        "aten.hardswish.default",
        "aten.hardsigmoid.default",
        "aten.hardtanh.default",
        "aten.selu.default",
        "aten.celu.default",
        "aten.softsign.default",
        "aten.log_sigmoid.default",
        "aten.hardshrink.default",
        "aten.softshrink.default",
        "aten.exp.default",
        "aten.expm1.default",
        "aten.log.default",
        "aten.log1p.default",
        "aten.square.default",
        "aten.abs.default",
        "aten.sqrt.default",
        "aten.rsqrt.default",
        "aten.reciprocal.default",
        "aten.neg.default",
        "aten.sin.default",
        "aten.cos.default",
        "aten.erf.default",
        "aten.sign.default",
    ),
    ("aten._softmax.default", "aten._log_softmax.default"),
    ("aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default"),
    (
        "aten.mse_loss.default",
        "aten.l1_loss.default",
        "aten.smooth_l1_loss.default",
        "aten.huber_loss.default",
    ),
    ("aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"),
    ("aten.maximum.default", "aten.minimum.default"),
    ("aten.argmax.default", "aten.argmin.default"),
    ("aten.max_pool2d.default", "aten.avg_pool2d.default"),
    ("aten.max_pool2d_with_indices.default", "aten.avg_pool2d.default"),
    (
        "aten.upsample_bilinear2d.default",
        "aten.upsample_nearest2d.default",
        "aten.upsample_bicubic2d.default",
    ),
    ("aten.reflection_pad2d.default", "aten.replication_pad2d.default"),
    ("aten.cumsum.default", "aten.cumprod.default"),
    ("aten.triu.default", "aten.tril.default"),
    ("aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default"),
    ("aten.sum.default", "aten.mean.default", "aten.prod.default"),
)
"""Operators that may stand in each other's place, by their names in PyTorch's graphs."""

MINDSPORE_KINDS: tuple[tuple[str, ...], ...] = (
    (
        "ReLU",
        "ReLU6",
        "SiLU",
        "GeLU",
        "ops.gelu",
        "Tanh",
        "Sigmoid",
        "SoftplusExt",
        "Elu",
        "Mish",
        "ops.leaky_relu",
        "HSwish",
        "HSigmoid",
        "ops.hardtanh",
        "SeLU",
        "Softsign",
        "ops.logsigmoid",
    ),
    ("Softmax", "LogSoftmax", "ops.softmin"),
    ("SumExt", "MeanExt", "ProdExt", "ops.amax", "ops.amin"),
    ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin"),
    ("Maximum", "Minimum"),
    ("AddExt", "SubExt", "Mul", "Div"),
    ("SmoothL1Loss", "ops.mse_loss", "ops.l1_loss", "ops.huber_loss"),
    ("MaxPool", "AvgPool"),
    ("ResizeBilinearV2", "ResizeNearestNeighborV2"),
)
"""Operators that may stand in each other's place, by their names in MindSpore's graphs.

Of what several operators of MindSpore compute, such as GELU by erf, it is the function.
"""

JAX_KINDS: tuple[tuple[str, ...], ...] = (
    (
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "tanh",
        "logistic",
        "sin",
        "cos",
        "sqrt",
        "rsqrt",
        "square",
        "abs",
        "neg",
        "sign",
        "erf",
    ),
    ("add", "sub", "mul", "div"),
    ("max", "min"),
    ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"),
    ("argmax", "argmin"),
    ("cumsum", "cumprod"),
)
"""Operations that may stand in each other's place, by their names in JAX's graphs."""

REDUCTIONS = frozenset(
    {"aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default"}
)
"""Operators of PyTorch that make one element of all along some axes."""

SELECT = "aten.select.int"
"""The operator that takes one of them: a first token, or the last state."""

KINDS = TORCH_KINDS + MINDSPORE_KINDS + JAX_KINDS
