"""Functions of neural networks: convolutions, pooling, norms, embeddings, images."""

from explorer.correspondence.entries import (
    INPLACE,
    MINT_F,
    F,
    both,
    companion,
    only_mindspore,
    only_torch,
    pair,
    tensor,
    weights,
)
from explorer.correspondence.records import REQUIRED, UNKNOWN, Argument, Row

PADDED = ("pad_mode", "pad")


CONVOLVING = {
    1: ("Conv1DExt", "Conv1DPadding"),
    2: ("Conv2D", "Conv2DExt", "Conv2DPadding"),
    3: ("Conv3D", "Conv3DExt", "Conv3DPadding"),
}
"""The operators of convolutions along one axis, two and three."""


def _convolution(axes: int, sizes: str, kernel: str) -> Row:
    return Row(
        f"conv{axes}d",
        f"ops.conv{axes}d",
        f"{F}conv{axes}d",
        (
            tensor("input", f"n 4 {sizes}"),
            tensor("weight", f"6 4/groups {kernel}"),
            weights("bias", "6"),
        ),
        (
            both("stride", 1, 1, 2),
            pair("pad_mode padding", "valid", 0, "valid", "same", "pad", way="pad_mode"),
            Argument("padding", "", 0, UNKNOWN, "of_pad_mode", (1, 2), PADDED),
            both("dilation", 1, 1, 2),
            both("groups", 1, 1, 2),
        ),
        alike=(f"{MINT_F}conv2d",) if axes == 2 else (),
        primitives=CONVOLVING[axes],
        aten=("aten.convolution", f"aten.conv{axes}d"),
        facts=("same_pads_after",),
    )


CONVOLUTIONS = (
    _convolution(1, "h", "3"),
    _convolution(2, "h w", "3 2"),
    _convolution(3, "6 h 7", "3 2 2"),
)

POOLING = (
    Row(
        "max_pool2d",
        "ops.max_pool2d",
        F + "max_pool2d",
        (tensor("x input", "n c h w"),),
        (
            both("kernel_size", REQUIRED, 2, 3, (3, 2)),
            both("stride", None, None, 1, 2),
            both("padding", 0, 0, 1),
            both("dilation", 1, 1),
            both("return_indices", False, False),
            both("ceil_mode", False, False, True),
        ),
        alike=(MINT_F + "max_pool2d",),
        primitives=("MaxPool", "MaxPoolWithArgmaxV2", "MaxPoolWithIndices"),
        aten=("aten.max_pool2d_with_indices", "aten.max_pool2d"),
    ),
    Row(
        "avg_pool1d",
        "ops.avg_pool1d",
        F + "avg_pool1d",
        (tensor("input_x input", "n c h"),),
        (
            pair("kernel_size", 1, REQUIRED, 2, 3),
            pair("stride", 1, None, 1, 2, way="stride"),
            both("padding", 0, 0, 1),
            both("ceil_mode", False, False, True),
            both("count_include_pad", True, True, False),
        ),
        alike=(MINT_F + "avg_pool1d",),
        primitives=("AvgPool1D",),
        aten=("aten.avg_pool1d",),
    ),
    Row(
        "avg_pool2d",
        "ops.avg_pool2d",
        F + "avg_pool2d",
        (tensor("input_x input", "n c h w"),),
        (
            pair("kernel_size", 1, REQUIRED, 2, 3, (3, 2)),
            pair("stride", 1, None, 1, 2, way="stride"),
            both("padding", 0, 0, 1),
            both("ceil_mode", False, False, True),
            both("count_include_pad", True, True, False),
            Argument(
                "divisor_override",
                "divisor_override",
                0,
                None,
                "zero_is_none",
                (0, 3),
                ("ceil_mode", False),
            ),
        ),
        alike=(MINT_F + "avg_pool2d",),
        primitives=("AvgPool", "AvgPool2D"),
        aten=("aten.avg_pool2d",),
    ),
    Row(
        "adaptive_avg_pool1d",
        "ops.adaptive_avg_pool1d",
        F + "adaptive_avg_pool1d",
        (tensor("input", "n c 8"),),
        (both("output_size", REQUIRED, 1, 2, 4),),
        alike=(MINT_F + "adaptive_avg_pool1d",),
        primitives=("AdaptiveAvgPool1D",),
        aten=("aten.adaptive_avg_pool1d",),
    ),
    Row(
        "adaptive_avg_pool2d",
        "ops.adaptive_avg_pool2d",
        F + "adaptive_avg_pool2d",
        (tensor("input", "n c h w"),),
        (both("output_size", REQUIRED, 1, 2, (3, 2)),),
        alike=(MINT_F + "adaptive_avg_pool2d",),
        primitives=("AdaptiveAvgPool2D", "AdaptiveAvgPool2DExt"),
        aten=("aten._adaptive_avg_pool2d", "aten.mean"),
    ),
    Row(
        "adaptive_max_pool2d",
        "ops.adaptive_max_pool2d",
        F + "adaptive_max_pool2d",
        (tensor("input", "n c h w"),),
        (both("output_size", REQUIRED, 1, 2, (3, 2)), both("return_indices", False, False)),
        alike=(MINT_F + "adaptive_max_pool2d",),
        primitives=("AdaptiveMaxPool2D",),
        aten=("aten.adaptive_max_pool2d",),
    ),
    Row(
        "lp_pool2d",
        "ops.lp_pool2d",
        F + "lp_pool2d",
        (tensor("x input", "n c h w", "positive"),),
        (
            both("norm_type", REQUIRED, 1, 2),
            both("kernel_size", REQUIRED, 2, 3),
            both("stride", None, None, 1, 2),
            both("ceil_mode", False, False),
        ),
    ),
)

NORMS = (
    Row(
        "layer_norm",
        "ops.LayerNorm",
        F + "layer_norm",
        (
            tensor("input_x input", "n 3 4"),
            tensor("gamma weight", "normalized_shape"),
            tensor("beta bias", "normalized_shape"),
        ),
        (
            pair("begin_norm_axis normalized_shape", 1, REQUIRED, 1, 2, -1, way="begins_at"),
            companion("begin_params_axis", 1, "of_begins_at", 1, 2, -1),
            pair("epsilon eps", 1e-7, 1e-5, 1e-7, 1e-5, 0.1),
        ),
        alike=(MINT_F + "layer_norm",),
        primitives=("LayerNorm", "LayerNormExt"),
        aten=("aten.native_layer_norm", "aten.layer_norm"),
    ),
    Row(
        "batch_norm",
        "ops.batch_norm",
        F + "batch_norm",
        (
            tensor("input_x input", "4 c h w"),
            tensor("running_mean", "c"),
            tensor("running_var", "c", "positive"),
            tensor("weight", "c"),
            tensor("bias", "c"),
        ),
        (
            both("training", False, False, True),
            both("momentum", 0.1, 0.1, 0.3),
            both("eps", 1e-5, 1e-5, 0.1),
        ),
        alike=(MINT_F + "batch_norm",),
        primitives=("BatchNorm", "BatchNormExt"),
        aten=(
            "aten.native_batch_norm",
            "aten.batch_norm",
            "aten._native_batch_norm_legit_functional",
            "aten._native_batch_norm_legit_no_training",
        ),
    ),
    Row(
        "normalize",
        "ops.L2Normalize",
        F + "normalize",
        (tensor("x input"),),
        (
            pair("axis dim", 0, 1, 0, 1, -1),
            pair("epsilon eps", 1e-4, 1e-12, 1e-4, 9.0, way="root"),
            only_torch("p", 2.0, 2.0),
        ),
        primitives=("L2Normalize",),
        unmatched=("out",),
        compared="values",
        facts=("norm_below_epsilon",),
    ),
    Row(
        "group_norm",
        "ops.group_norm",
        F + "group_norm",
        (tensor("input", "n 6 h w"), weights("weight", "6"), weights("bias", "6")),
        (both("num_groups", REQUIRED, 1, 2, 3, 6), both("eps", 1e-5, 1e-5, 0.1)),
        alike=(MINT_F + "group_norm",),
        primitives=("GroupNorm",),
        aten=("aten.native_group_norm", "aten.group_norm"),
    ),
)

PICKING = (
    Row(
        "embedding",
        "ops.gather",
        F + "embedding",
        (
            tensor("input_indices input", "n h", "indices", below=6),
            tensor("input_params weight", "6 c"),
        ),
        (
            Argument("axis", "", REQUIRED, 0, "same", (0,)),
            only_mindspore("batch_dims", 0, 0),
            only_torch("max_norm", None, None),
            only_torch("scale_grad_by_freq", False, False),
            only_torch("sparse", False, False),
        ),
        primitives=("Gather", "Embedding"),
        aten=("aten.embedding",),
        unmatched=("padding_idx", "norm_type"),
    ),
    Row(
        "dropout",
        "ops.dropout",
        F + "dropout",
        (tensor("input", "40 50", "ones"),),
        (both("p", 0.5, 0.5, 0.1, 0.0), both("training", True, True, False), INPLACE),
        primitives=("Dropout", "DropoutExt"),
        aten=("aten.native_dropout", "aten.dropout"),
        unmatched=("seed",),
        compared="sets",
    ),
    Row(
        "dropout2d",
        "ops.dropout2d",
        F + "dropout2d",
        (tensor("input", "20 30 2 2", "ones"),),
        (both("p", 0.5, 0.5, 0.1, 0.0), both("training", True, True, False), INPLACE),
        primitives=("Dropout2D",),
        compared="sets",
    ),
)

IMAGES = (
    Row(
        "pad",
        "ops.pad",
        F + "pad",
        (tensor("input_x input", "n c 5 6"),),
        (
            pair("padding pad", REQUIRED, REQUIRED, (1, 2, 0, 1), (0, 1, 2, 1), (2, 0, 1, 1)),
            both("mode", "constant", "constant", "reflect", "replicate"),
            Argument("value", "value", None, None, "same", (0.5, -1.0), ("mode", "constant")),
        ),
        primitives=("PadV3", "ConstantPadND", "Pad"),
        aten=("aten.constant_pad_nd", "aten.pad"),
    ),
    Row(
        "interpolate",
        "ops.interpolate",
        F + "interpolate",
        (tensor("input", "n c 4 5"),),
        (
            both("size", None, (8, 10), (3, 7), (4, 5)),
            both("scale_factor", None, None),
            both("mode", "nearest", "bilinear"),
            both("align_corners", None, True, False),
            both("recompute_scale_factor", None, None),
            only_torch("antialias", False, False),
        ),
        primitives=("ResizeBilinearV2", "UpsampleBilinear2D", "ResizeNearestNeighbor"),
        aten=("aten.upsample_bilinear2d", "aten.upsample_nearest2d"),
    ),
    Row(
        "grid_sample",
        "ops.grid_sample",
        F + "grid_sample",
        (tensor("input", "n c h w"), tensor("grid", "n 3 4 2", "unit")),
        (
            both("mode", "bilinear", "bilinear", "nearest"),
            both("padding_mode", "zeros", "zeros", "border"),
            both("align_corners", None, True, False),
        ),
        alike=(MINT_F + "grid_sample",),
        primitives=("GridSampler2D",),
        aten=("aten.grid_sampler_2d",),
    ),
    Row(
        "affine_grid",
        "ops.affine_grid",
        F + "affine_grid",
        (tensor("theta", "2 2 3"),),
        (
            both("size", REQUIRED, (2, 3, 4, 5), (2, 1, 3, 3)),
            pair("align_corners", False, None, True, False, way="none_is_false"),
        ),
        primitives=("AffineGrid",),
        aten=("aten.affine_grid_generator",),
    ),
    Row(
        "pixel_shuffle",
        "ops.pixel_shuffle",
        F + "pixel_shuffle",
        (tensor("input", "n 36 h w"),),
        (both("upscale_factor", REQUIRED, 2, 3, 1),),
        aten=("aten.pixel_shuffle",),
    ),
    Row(
        "pixel_unshuffle",
        "ops.pixel_unshuffle",
        F + "pixel_unshuffle",
        (tensor("input", "n c 6 12"),),
        (both("downscale_factor", REQUIRED, 2, 3, 1),),
        aten=("aten.pixel_unshuffle",),
    ),
    Row(
        "unfold",
        "ops.unfold",
        F + "unfold",
        (tensor("input", "n c h w"),),
        (
            both("kernel_size", REQUIRED, 2, 3),
            both("dilation", 1, 1, 2),
            both("padding", 0, 0, 1),
            both("stride", 1, 1, 2),
        ),
        alike=(MINT_F + "unfold",),
        primitives=("Im2Col", "Im2ColExt"),
        aten=("aten.im2col",),
    ),
)
