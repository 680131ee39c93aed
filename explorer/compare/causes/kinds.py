"""What operators may be given instead of their arguments."""

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

REDUCTIONS = frozenset(
    {"aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default"}
)
"""Operators of PyTorch that make one element of all along some axes."""

SELECT = "aten.select.int"
"""The operator that takes one of them: a first token, or the last state."""
