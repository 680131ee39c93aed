"""Operators as they are in graphs, whose arguments are called otherwise than those of functions."""

from explorer.correspondence.entries import companion, only_mindspore, only_torch, pair, tensor
from explorer.correspondence.records import REQUIRED, UNKNOWN, Argument, Row

LAYOUT = ("data_format",)
AXIS_OF_ONE = (
    pair("axis dim", -1, REQUIRED, -1, 0, 1, way="single_axis"),
    only_torch("half_to_float", REQUIRED, False),
)
REDUCED = (
    pair("axis dim", (), REQUIRED, (), (0,), (0, 2), -1, way="some_axes"),
    pair("keep_dims keepdim", False, False, True, False),
)
REDUCTION = pair("reduction", "mean", 1, "mean", "sum", "none", way="reduction_number")
LAMBDA = pair("lambd", 0.5, 0.5, 0.5, 0.2)
CLASSES = tensor("labels target", "n", "indices", below=5)


def _pooling(name: str, operator: str, way: str, *modes: str, mode: str = "valid") -> Row:
    return Row(
        operator.removeprefix("aten.").removesuffix("_with_indices"),
        f"ops.{name}",
        operator,
        (tensor("x self", "n c h w"),),
        (
            pair("kernel_size", 1, REQUIRED, 2, 3, (3, 2), way="each_axis"),
            pair("strides stride", 1, (), 1, 2, way="stride_of_each_axis"),
            pair("pad_mode padding", mode, 0, *modes, way=way),
            only_torch("ceil_mode", False, False),
        ),
        unmatched=LAYOUT,
    )


OPERATORS = (
    Row(
        "conv2d",
        "ops.Conv2D",
        "aten.convolution",
        (tensor("x input", "n 4 h w"), tensor("w weight", "6 4/group 3 2")),
        (
            only_torch("bias", REQUIRED, None),
            Argument("out_channel", "", REQUIRED, 6, "of_weight", (6,)),
            Argument("kernel_size", "", REQUIRED, (3, 2), "of_weight", ((3, 2),)),
            pair("stride", 1, REQUIRED, 1, 2, (2, 1), way="each_axis"),
            pair(
                "pad_mode padding",
                "valid",
                REQUIRED,
                "valid",
                "same",
                "pad",
                way="operator_pad_mode",
            ),
            Argument("pad", "", 0, UNKNOWN, "of_pad_mode", (1, (2, 2, 1, 1)), ("pad_mode", "pad")),
            pair("dilation", 1, REQUIRED, 1, 2, way="each_axis"),
            only_torch("transposed", REQUIRED, False),
            only_torch("output_padding", REQUIRED, (0, 0)),
            pair("group groups", 1, REQUIRED, 1, 2),
            only_mindspore("mode", 1, 1),
        ),
        unmatched=LAYOUT,
        facts=("same_pads_after",),
    ),
    Row(
        "batch_norm",
        "ops.BatchNorm",
        "aten.native_batch_norm",
        (
            tensor("input_x input", "4 c h w"),
            tensor("scale weight", "c"),
            tensor("bias", "c"),
            tensor("mean running_mean", "c"),
            tensor("variance running_var", "c", "positive"),
        ),
        (
            pair("is_training training", False, REQUIRED, False, True),
            pair("momentum", 0.1, REQUIRED, 0.1, 0.3),
            pair("epsilon eps", 1e-5, REQUIRED, 1e-5, 0.1),
        ),
        unmatched=LAYOUT,
    ),
    Row(
        "layer_norm",
        "ops.LayerNorm",
        "aten.native_layer_norm",
        (
            tensor("input_x input", "n 3 4"),
            tensor("gamma weight", "normalized_shape"),
            tensor("beta bias", "normalized_shape"),
        ),
        (
            pair("begin_norm_axis normalized_shape", 1, REQUIRED, 1, 2, -1, way="begins_at"),
            companion("begin_params_axis", 1, "of_begins_at", 1, 2, -1),
            pair("epsilon eps", 1e-7, REQUIRED, 1e-7, 1e-5, 0.1),
        ),
    ),
    Row("softmax", "ops.Softmax", "aten._softmax", (tensor("input self"),), AXIS_OF_ONE),
    Row(
        "log_softmax",
        "ops.LogSoftmax",
        "aten._log_softmax",
        (tensor("logits self"),),
        AXIS_OF_ONE,
    ),
    Row(
        "sum",
        "ops.ReduceSum",
        "aten.sum.dim_IntList",
        (tensor("x self"),),
        (*REDUCED, only_mindspore("skip_mode", False, False)),
        unmatched=("dtype",),
    ),
    Row(
        "mean",
        "ops.ReduceMean",
        "aten.mean.dim",
        (tensor("x self"),),
        REDUCED,
        unmatched=("dtype",),
    ),
    _pooling("MaxPool", "aten.max_pool2d_with_indices", "mode_alone", "valid", "same"),
    _pooling("AvgPool", "aten.avg_pool2d", "average_mode_alone", "VALID", mode="VALID"),
    Row(
        "elu",
        "ops.Elu",
        "aten.elu",
        (tensor("input_x self"),),
        (
            pair("alpha", 1.0, 1, 1.0),
            only_torch("scale", 1, 1),
            only_torch("input_scale", 1, 1),
        ),
    ),
    Row(
        "hardshrink",
        "ops.HShrink",
        "aten.hardshrink",
        (tensor("input self"),),
        (LAMBDA,),
    ),
    Row(
        "softshrink",
        "ops.SoftShrink",
        "aten.softshrink",
        (tensor("input self"),),
        (LAMBDA,),
    ),
    Row(
        "glu",
        "ops.GLU",
        "aten.glu",
        (tensor("x self", "2 4 6"),),
        (pair("axis dim", -1, -1, -1, 0, 1),),
    ),
    Row(
        "concat",
        "ops.Concat",
        "aten.cat",
        (tensor("tensors", "2 3 4", count=3),),
        (pair("axis dim", 0, 0, 0, 1, -1),),
    ),
    Row(
        "unsqueeze",
        "ops.ExpandDims",
        "aten.unsqueeze",
        (tensor("input_x self"),),
        (pair("axis dim", REQUIRED, REQUIRED, 0, 1, -1, 3),),
    ),
    Row(
        "cumsum",
        "ops.CumSum",
        "aten.cumsum",
        (tensor("input self"),),
        (
            pair("axis dim", REQUIRED, REQUIRED, 0, 1, -1),
            only_mindspore("exclusive", False, False),
            only_mindspore("reverse", False, False),
        ),
        unmatched=("dtype",),
    ),
    Row(
        "index_select",
        "ops.Gather",
        "aten.index_select",
        (
            tensor("input_params self", "4 4 4"),
            tensor("input_indices index", "w", "indices", below=4),
        ),
        (
            pair("axis dim", REQUIRED, REQUIRED, 0, 1, -1),
            only_mindspore("batch_dims", 0, 0),
        ),
    ),
    Row(
        "matmul",
        "ops.MatMul",
        "aten.mm",
        (tensor("input self", "c h"), tensor("mat2", "h w")),
        (
            only_mindspore("transpose_a", False, False),
            only_mindspore("transpose_b", False, False),
        ),
    ),
    Row(
        "add",
        "ops.BiasAdd",
        "aten.add.Tensor",
        (tensor("input_x self", "n c"), tensor("bias other", "c")),
        (only_torch("alpha", 1, 1),),
        unmatched=LAYOUT,
    ),
    Row(
        "dropout",
        "ops.Dropout",
        "aten.native_dropout",
        (tensor("x input", "40 50", "ones"),),
        (
            pair("keep_prob p", 0.5, REQUIRED, 0.5, 0.9, way="one_minus"),
            only_torch("train", REQUIRED, True),
        ),
        unmatched=("Seed0", "Seed1"),
        compared="sets",
    ),
    Row(
        "smooth_l1_loss",
        "ops.SmoothL1Loss",
        "aten.smooth_l1_loss",
        (tensor("prediction self", "n c"), tensor("target", "n c")),
        (
            pair("reduction", "none", 1, "none", "mean", "sum", way="reduction_number"),
            pair("beta", 1.0, 1.0, 1.0, 0.5),
        ),
    ),
    Row(
        "nll_loss",
        "ops.NLLLoss",
        "aten.nll_loss_forward",
        (tensor("logits self", "n 5", "logarithms"), CLASSES, tensor("weight", "5", "factors")),
        (
            pair("reduction", "mean", REQUIRED, "mean", "sum", "none", way="reduction_number"),
            pair("ignore_index", -100, REQUIRED, -100, 1),
        ),
    ),
    Row(
        "binary_cross_entropy",
        "ops.BinaryCrossEntropy",
        "aten.binary_cross_entropy",
        (
            tensor("input self", "n c", "unit"),
            tensor("target", "n c", "targets"),
            tensor("weight", "n c", "factors"),
        ),
        (REDUCTION,),
    ),
    Row(
        "binary_cross_entropy_with_logits",
        "ops.BCEWithLogitsLoss",
        "aten.binary_cross_entropy_with_logits",
        (
            tensor("input self", "n c"),
            tensor("target", "n c", "targets"),
            tensor("weight", "n c", "factors"),
            tensor("posWeight pos_weight", "n c", "factors"),
        ),
        (REDUCTION,),
    ),
    Row(
        "kl_div",
        "ops.KLDivLoss",
        "aten.kl_div",
        (
            tensor("logits self", "n 5", "logarithms"),
            tensor("labels target", "n 5", "probabilities"),
        ),
        (REDUCTION, only_torch("log_target", False, False)),
    ),
)
