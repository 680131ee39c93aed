"""Layers: Cells of MindSpore and modules of PyTorch."""

from explorer.correspondence.entries import (
    DEPRECATED,
    INPLACE,
    PLACE,
    REDUCTION,
    both,
    companion,
    only_mindspore,
    only_torch,
    pair,
    tensor,
)
from explorer.correspondence.records import REQUIRED, UNKNOWN, Argument, Operand, Row

NN = "torch.nn."
X = (tensor("x input"),)
INITIAL = ("weight_init", "bias_init")
LOSS_OPERANDS = (tensor("logits input", "n c"), tensor("labels target", "n c"))


def _plain(family: str, here: str, there: str = "", *arguments: Argument) -> Row:
    """An activation as a layer."""
    return Row(family, f"nn.{here}", NN + (there or here), X, arguments)


ACTIVATION_LAYERS = (
    Row("relu", "nn.ReLU", NN + "ReLU", X, (INPLACE,)),
    _plain("relu6", "ReLU6", "", INPLACE),
    Row(
        "gelu",
        "nn.GELU",
        NN + "GELU",
        X,
        (pair("approximate", True, "none", True, False, way="tanh"),),
        alike=("mint.nn.GELU",),
    ),
    _plain("silu", "SiLU", "", INPLACE),
    _plain("mish", "Mish", "", INPLACE),
    _plain("sigmoid", "Sigmoid"),
    _plain("tanh", "Tanh"),
    _plain("softsign", "Softsign"),
    _plain("logsigmoid", "LogSigmoid"),
    _plain("elu", "ELU", "", both("alpha", 1.0, 1.0), INPLACE),
    _plain("celu", "CELU", "", both("alpha", 1.0, 1.0, 0.5, 2.0), INPLACE),
    Row("selu", "nn.SeLU", NN + "SELU", X, (INPLACE,), compared="values", facts=("selu_gradient",)),
    _plain("hardswish", "HSwish", "Hardswish", INPLACE),
    _plain("hardsigmoid", "HSigmoid", "Hardsigmoid", INPLACE),
    _plain("hardshrink", "HShrink", "Hardshrink", both("lambd", 0.5, 0.5, 0.2)),
    _plain("softshrink", "SoftShrink", "Softshrink", both("lambd", 0.5, 0.5, 0.2)),
    _plain("tanhshrink", "Tanhshrink"),
    Row(
        "hardtanh",
        "nn.Hardtanh",
        NN + "Hardtanh",
        X,
        (both("min_val", -1.0, -1.0, -0.5), both("max_val", 1.0, 1.0, 0.3), INPLACE),
        unmatched=("min_value", "max_value"),
    ),
    _plain(
        "leaky_relu",
        "LeakyReLU",
        "",
        pair("alpha negative_slope", 0.2, 0.01, 0.2, 0.01, 0.3),
        INPLACE,
    ),
    Row(
        "threshold",
        "nn.Threshold",
        NN + "Threshold",
        X,
        (both("threshold", REQUIRED, 0.1, -0.4), both("value", REQUIRED, 0.0, 2.0), INPLACE),
        alike=("mint.nn.Threshold",),
    ),
    Row(
        "prelu",
        "nn.PReLU",
        NN + "PReLU",
        (tensor("x input", "n 4 h"),),
        (pair("channel num_parameters", 1, 1, 1, 4), pair("w init", 0.25, 0.25, 0.25, 0.1)),
        alike=("mint.nn.PReLU",),
        unmatched=PLACE,
        weights=("w",),
    ),
    Row(
        "glu",
        "nn.GLU",
        NN + "GLU",
        (tensor("x input", "2 4 6"),),
        (pair("axis dim", -1, -1, -1, 0, 1),),
        alike=("mint.nn.GLU",),
    ),
    Row(
        "softmax",
        "nn.Softmax",
        NN + "Softmax",
        X,
        (pair("axis dim", -1, None, -1, 0, 1, way="softmax_axis"),),
        alike=("mint.nn.Softmax",),
    ),
    Row(
        "log_softmax",
        "nn.LogSoftmax",
        NN + "LogSoftmax",
        (tensor("x input", "n c"),),
        (pair("axis dim", -1, None, -1, 0, 1, way="softmax_axis"),),
        alike=("mint.nn.LogSoftmax",),
    ),
    Row(
        "softmin",
        "nn.Softmin",
        NN + "Softmin",
        X,
        (pair("axis dim", -1, None, -1, 0, 1, way="softmax_axis"),),
    ),
)

# Layers with weights

LINEAR_LAYERS = (
    Row(
        "linear",
        "nn.Dense",
        NN + "Linear",
        (tensor("x input", "n c 5"),),
        (
            pair("in_channels in_features", REQUIRED, REQUIRED, 5),
            pair("out_channels out_features", REQUIRED, REQUIRED, 3, 4),
            pair("has_bias bias", True, True, True, False),
            only_mindspore("activation", None, None),
        ),
        alike=("mint.nn.Linear",),
        unmatched=(*INITIAL, *PLACE),
        weights=("weight", "bias"),
    ),
    Row(
        "bilinear",
        "nn.BiDense",
        NN + "Bilinear",
        (tensor("input1", "n 3"), tensor("input2", "n 4")),
        (
            pair("in1_channels in1_features", REQUIRED, REQUIRED, 3),
            pair("in2_channels in2_features", REQUIRED, REQUIRED, 4),
            pair("out_channels out_features", REQUIRED, REQUIRED, 2, 5),
            pair("has_bias bias", True, True, True, False),
        ),
        unmatched=(*INITIAL, *PLACE),
        weights=("weight", "bias"),
    ),
    Row(
        "embedding",
        "nn.Embedding",
        NN + "Embedding",
        (tensor("ids input", "n h", "indices", below=6),),
        (
            pair("vocab_size num_embeddings", REQUIRED, REQUIRED, 6),
            pair("embedding_size embedding_dim", REQUIRED, REQUIRED, 3, 4),
            both("padding_idx", None, None),
            only_mindspore("use_one_hot", False, False),
            only_torch("max_norm", None, None),
            only_torch("scale_grad_by_freq", False, False),
            only_torch("sparse", False, False),
        ),
        alike=("mint.nn.Embedding",),
        unmatched=("embedding_table", "norm_type", "_weight", "_freeze", *PLACE),
        facts=("padding_idx_initial",),
        weights=("embedding_table",),
    ),
)


def _convolution(axes: int, sizes: str, *unmatched: str) -> Row:
    return Row(
        f"conv{axes}d",
        f"nn.Conv{axes}d",
        f"{NN}Conv{axes}d",
        (tensor("x input", f"n 4 {sizes}"),),
        (
            pair("in_channels", REQUIRED, REQUIRED, 4),
            pair("out_channels", REQUIRED, REQUIRED, 6),
            both("kernel_size", REQUIRED, 2, 3),
            both("stride", 1, 1, 2),
            pair("pad_mode padding", "same", 0, "same", "valid", "pad", way="pad_mode"),
            Argument("padding", "", 0, UNKNOWN, "of_pad_mode", (1, 2), ("pad_mode", "pad")),
            both("dilation", 1, 1, 2),
            pair("group groups", 1, 1, 1, 2),
            pair("has_bias bias", False, True, True, False),
            only_torch("padding_mode", "zeros", "zeros"),
        ),
        alike=(f"mint.nn.Conv{axes}d",),
        unmatched=(*INITIAL, *unmatched, *PLACE),
        facts=("same_pads_after",),
        weights=("weight", "bias"),
    )


def _transposed(axes: int, sizes: str, *arguments: Argument, unmatched: str = "") -> Row:
    return Row(
        f"conv_transpose{axes}d",
        f"nn.Conv{axes}dTranspose",
        f"{NN}ConvTranspose{axes}d",
        (tensor("x input", f"n 4 {sizes}"),),
        (
            pair("in_channels", REQUIRED, REQUIRED, 4),
            pair("out_channels", REQUIRED, REQUIRED, 6),
            both("kernel_size", REQUIRED, 4),
            both("stride", 1, 1, 2),
            pair("pad_mode padding", "same", 0, "valid", "pad", way="transposed_pad_mode"),
            Argument("padding", "", 0, UNKNOWN, "of_pad_mode", (1,), ("pad_mode", "pad")),
            *arguments,
            both("dilation", 1, 1),
            pair("group groups", 1, 1, 1, 2),
            pair("has_bias bias", False, True, True, False),
            only_torch("padding_mode", "zeros", "zeros"),
        ),
        unmatched=(*INITIAL, *unmatched.split(), *PLACE),
        weights=("weight", "bias"),
    )


CONVOLUTION_LAYERS = (
    _convolution(1, "h"),
    _convolution(2, "h w", "data_format"),
    _convolution(3, "7 h 6", "data_format"),
    _transposed(1, "h", only_torch("output_padding", 0, 0)),
    _transposed(2, "h w", both("output_padding", 0, 0)),
)


def _max_pool(axes: int, sizes: str, *unmatched: str) -> Row:
    return Row(
        f"max_pool{axes}d",
        f"nn.MaxPool{axes}d",
        f"{NN}MaxPool{axes}d",
        (tensor("x input", f"n c {sizes}"),),
        (
            pair("kernel_size", 1, REQUIRED, 2, 3),
            pair("stride", 1, None, 1, 2, way="stride"),
            pair("pad_mode padding", "valid", 0, "valid", "pad", "same", way="pool_pad_mode"),
            Argument("padding", "", 0, UNKNOWN, "of_pad_mode", (1,), ("pad_mode", "pad")),
            both("dilation", 1, 1),
            both("return_indices", False, False),
            Argument("ceil_mode", "ceil_mode", False, False, "same", (True,), ("pad_mode", "pad")),
        ),
        unmatched=unmatched,
        facts=("same_pools_after",),
    )


def _average_pool(axes: int, sizes: str, *arguments: Argument) -> Row:
    return Row(
        f"avg_pool{axes}d",
        f"nn.AvgPool{axes}d",
        f"{NN}AvgPool{axes}d",
        (tensor("x input", f"n c {sizes}"),),
        (
            pair("kernel_size", 1, REQUIRED, 2, 3),
            pair("stride", 1, None, 1, 2, way="stride"),
            pair("pad_mode padding", "valid", 0, "valid", "pad", way="average_pad_mode"),
            Argument("padding", "", 0, UNKNOWN, "of_pad_mode", (1,), ("pad_mode", "pad")),
            Argument("ceil_mode", "ceil_mode", False, False, "same", (True,), ("pad_mode", "pad")),
            Argument(
                "count_include_pad",
                "count_include_pad",
                True,
                True,
                "same",
                (False,),
                ("pad_mode", "pad"),
            ),
            *arguments,
        ),
        alike=(f"mint.nn.AvgPool{axes}d",),
        unmatched=("data_format",) if axes == 2 else (),
    )


POOLING_LAYERS = (
    _max_pool(1, "h"),
    _max_pool(2, "h w", "data_format"),
    _average_pool(1, "h"),
    _average_pool(2, "h w", both("divisor_override", None, None)),
    Row(
        "adaptive_avg_pool1d",
        "nn.AdaptiveAvgPool1d",
        NN + "AdaptiveAvgPool1d",
        (tensor("input", "n c 8"),),
        (both("output_size", REQUIRED, 1, 2, 4),),
        alike=("mint.nn.AdaptiveAvgPool1d",),
    ),
    Row(
        "adaptive_avg_pool2d",
        "nn.AdaptiveAvgPool2d",
        NN + "AdaptiveAvgPool2d",
        (tensor("input", "n c h w"),),
        (both("output_size", REQUIRED, 1, 2, (3, 2)),),
        alike=("mint.nn.AdaptiveAvgPool2d",),
    ),
    Row(
        "adaptive_max_pool2d",
        "nn.AdaptiveMaxPool2d",
        NN + "AdaptiveMaxPool2d",
        (tensor("input", "n c h w"),),
        (both("output_size", REQUIRED, 1, 2, (3, 2)), both("return_indices", False, False)),
        alike=("mint.nn.AdaptiveMaxPool2d",),
    ),
)

NORM_INITIAL = ("gamma_init", "beta_init")
STATISTICS_INITIAL = ("moving_mean_init", "moving_var_init")


def _batch_norm(axes: int, shape: str, *unmatched: str) -> Row:
    return Row(
        f"batch_norm{axes}d",
        f"nn.BatchNorm{axes}d",
        f"{NN}BatchNorm{axes}d",
        (tensor("x input", shape),),
        (
            both("num_features", REQUIRED, 5),
            both("eps", 1e-5, 1e-5, 0.1),
            pair("momentum", 0.9, 0.1, 0.9, 0.7, way="one_minus"),
            both("affine", True, True),
            only_torch("bias", True, True),
            only_torch("track_running_stats", True, True),
            only_mindspore("use_batch_statistics", None, None),
        ),
        alike=(f"mint.nn.BatchNorm{axes}d",),
        unmatched=(*NORM_INITIAL, *STATISTICS_INITIAL, *unmatched, *PLACE),
        modes=("train", "eval"),
        weights=("gamma", "beta", "moving_mean", "moving_variance"),
    )


NORM_LAYERS = (
    _batch_norm(1, "6 5", "data_format"),
    _batch_norm(2, "3 5 h w", "data_format"),
    _batch_norm(3, "3 5 2 3 4"),
    Row(
        "layer_norm",
        "nn.LayerNorm",
        NN + "LayerNorm",
        (tensor("x input", "n 3 4"),),
        (
            pair("normalized_shape", REQUIRED, REQUIRED, (4,), way="normalized_shape"),
            companion("begin_norm_axis", -1, "of_normalized_shape"),
            companion("begin_params_axis", -1, "of_normalized_shape"),
            pair("epsilon eps", 1e-7, 1e-5, 1e-7, 1e-5, 0.1),
            only_torch("elementwise_affine", True, True),
            only_torch("bias", True, True),
        ),
        alike=("mint.nn.LayerNorm",),
        unmatched=(*NORM_INITIAL, *PLACE),
        weights=("gamma", "beta"),
    ),
    Row(
        "group_norm",
        "nn.GroupNorm",
        NN + "GroupNorm",
        (tensor("x input", "n 6 h w"),),
        (
            both("num_groups", REQUIRED, 1, 2, 3),
            both("num_channels", REQUIRED, 6),
            both("eps", 1e-5, 1e-5, 0.1),
            both("affine", True, True),
            only_torch("bias", True, True),
        ),
        unmatched=(*NORM_INITIAL, *PLACE),
        weights=("gamma", "beta"),
    ),
)

# Recurrent layers and attention

RECURRENT = (
    both("input_size", REQUIRED, 4),
    both("hidden_size", REQUIRED, 3, 5),
    both("num_layers", 1, 1, 2),
    pair("has_bias bias", True, True, True, False),
    both("batch_first", False, True, False),
    pair("dropout", 0.0, 0.0),
    both("bidirectional", False, True, False),
)
CELL = (
    both("input_size", REQUIRED, 4),
    both("hidden_size", REQUIRED, 3, 5),
    pair("has_bias bias", True, True, True, False),
)
STEPS = (tensor("x input", "4 3 4"),)

RECURRENT_LAYERS = (
    Row(
        "lstm",
        "nn.LSTM",
        NN + "LSTM",
        STEPS,
        (*RECURRENT, only_torch("proj_size", 0, 0)),
        unmatched=PLACE,
        facts=("gates_alike",),
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "gru",
        "nn.GRU",
        NN + "GRU",
        STEPS,
        RECURRENT,
        unmatched=PLACE,
        facts=("gates_alike",),
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "rnn",
        "nn.RNN",
        NN + "RNN",
        STEPS,
        (*RECURRENT, both("nonlinearity", "tanh", "tanh", "relu")),
        unmatched=PLACE,
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "lstm_cell",
        "nn.LSTMCell",
        NN + "LSTMCell",
        (tensor("x input", "n 4"), tensor("hx", "n hidden_size", count=2)),
        CELL,
        unmatched=PLACE,
        facts=("gates_alike",),
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "gru_cell",
        "nn.GRUCell",
        NN + "GRUCell",
        (tensor("x input", "n 4"), tensor("hx", "n hidden_size")),
        CELL,
        unmatched=PLACE,
        facts=("gates_alike",),
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "rnn_cell",
        "nn.RNNCell",
        NN + "RNNCell",
        (tensor("x input", "n 4"), tensor("hx", "n hidden_size")),
        (*CELL, both("nonlinearity", "tanh", "tanh", "relu")),
        unmatched=PLACE,
        weights=("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    ),
    Row(
        "multihead_attention",
        "nn.MultiheadAttention",
        NN + "MultiheadAttention",
        (tensor("query", "3 2 4"), tensor("key", "3 2 4"), tensor("value", "3 2 4")),
        (
            both("embed_dim", REQUIRED, 4),
            both("num_heads", REQUIRED, 1, 2),
            both("dropout", 0.0, 0.0),
            pair("has_bias bias", True, True, True, False),
            both("add_bias_kv", False, False, True),
            both("add_zero_attn", False, False, True),
            both("kdim", None),
            both("vdim", None),
            both("batch_first", False, True, False),
        ),
        unmatched=PLACE,
        weights=(
            "in_proj_weight",
            "in_proj_bias",
            "out_proj.weight",
            "out_proj.bias",
            "bias_k",
            "bias_v",
        ),
    ),
)

# Dropout, shapes, images

DROPOUT_LAYERS = (
    Row(
        "dropout",
        "nn.Dropout",
        NN + "Dropout",
        (tensor("x input", "40 50", "ones"),),
        (
            pair("p", None, 0.5, 0.1, 0.5, None, way="dropped"),
            companion("keep_prob", 0.5, "of_dropped", 0.5, 0.9),
            INPLACE,
        ),
        alike=("mint.nn.Dropout",),
        unmatched=("dtype",),
        modes=("train", "eval"),
        compared="sets",
    ),
    Row(
        "dropout2d",
        "nn.Dropout2d",
        NN + "Dropout2d",
        (tensor("x input", "20 30 2 2", "ones"),),
        (both("p", 0.5, 0.5, 0.1), INPLACE),
        alike=("mint.nn.Dropout2d",),
        modes=("train", "eval"),
        compared="sets",
    ),
)


def _padding(name: str, axes: int, *arguments: Argument) -> Row:
    values = ((1, 2), (2, 0)) if axes == 1 else ((1, 2, 0, 1), (2, 1, 1, 2))
    sizes = "5" if axes == 1 else "5 6"
    return Row(
        f"{name.lower()}{axes}d",
        f"nn.{name}{axes}d",
        f"{NN}{name}{axes}d",
        (tensor("x input", f"n c {sizes}"),),
        (both("padding", REQUIRED, 1, *values), *arguments),
        alike=(f"mint.nn.{name}{axes}d",),
    )


IMAGE_LAYERS = (
    Row(
        "flatten",
        "nn.Flatten",
        NN + "Flatten",
        (tensor("x input", "2 3 4 5"),),
        (both("start_dim", 1, 1, 2), both("end_dim", -1, -1, 2)),
        alike=("mint.nn.Flatten",),
    ),
    Row("identity", "nn.Identity", NN + "Identity", X),
    _padding("ReflectionPad", 1),
    _padding("ReflectionPad", 2),
    _padding("ReplicationPad", 2),
    _padding("ConstantPad", 1, both("value", REQUIRED, 0.5, -1.0)),
    _padding("ConstantPad", 2, both("value", REQUIRED, 0.5, -1.0)),
    _padding("ZeroPad", 2),
    Row(
        "pixel_shuffle",
        "nn.PixelShuffle",
        NN + "PixelShuffle",
        (tensor("input", "n 36 h w"),),
        (both("upscale_factor", REQUIRED, 1, 2, 3),),
        alike=("mint.nn.PixelShuffle",),
    ),
    Row(
        "upsample",
        "nn.Upsample",
        NN + "Upsample",
        (tensor("x input", "n c 4 5"),),
        (
            both("size", None, (8, 10), (3, 7)),
            both("scale_factor", None),
            both("mode", "nearest", "bilinear"),
            both("align_corners", None, True, False),
            both("recompute_scale_factor", None),
        ),
    ),
    Row(
        "local_response_norm",
        "nn.LRN",
        NN + "LocalResponseNorm",
        (tensor("x input", "n 7 h w"),),
        (
            pair("depth_radius size", 5, REQUIRED, 1, 2, way="radius"),
            pair("alpha", 1.0, 1e-4, 1.0, 0.1, way="alpha_of_radius"),
            pair("beta", 0.5, 0.75, 0.5, 0.75),
            pair("bias k", 1.0, 1.0, 1.0, 2.0),
        ),
        unmatched=("norm_region",),
    ),
)

# Losses


def _loss(
    family: str,
    here: str,
    there: str = "",
    *arguments: Argument,
    operands: tuple[Operand, ...] = LOSS_OPERANDS,
    alike: bool = True,
    unmatched: tuple[str, ...] = DEPRECATED,
    facts: tuple[str, ...] = (),
) -> Row:
    there = there or here
    also = (f"mint.nn.{there}",) if alike else ()
    return Row(
        family,
        f"nn.{here}",
        NN + there,
        operands,
        arguments,
        also,
        unmatched=unmatched,
        facts=facts,
    )


CLASSES = (tensor("logits input", "n 5"), tensor("labels target", "n", "indices", below=5))

LOSS_LAYERS = (
    _loss("mse_loss", "MSELoss", "", REDUCTION),
    _loss("l1_loss", "L1Loss", "", REDUCTION),
    _loss(
        "smooth_l1_loss",
        "SmoothL1Loss",
        "",
        both("beta", 1.0, 1.0, 0.5),
        pair("reduction", "none", "mean", "none", "mean", "sum"),
    ),
    _loss(
        "huber_loss",
        "HuberLoss",
        "",
        REDUCTION,
        both("delta", 1.0, 1.0, 0.5),
        alike=False,
        unmatched=(),
    ),
    _loss(
        "cross_entropy",
        "CrossEntropyLoss",
        "",
        both("ignore_index", -100, -100, 1),
        REDUCTION,
        both("label_smoothing", 0.0, 0.0, 0.1),
        operands=CLASSES,
        unmatched=("weight", *DEPRECATED),
    ),
    _loss(
        "cross_entropy",
        "SoftmaxCrossEntropyWithLogits",
        "CrossEntropyLoss",
        pair("reduction", "none", "mean", "none", "mean", "sum"),
        only_torch("ignore_index", -100),
        only_torch("label_smoothing", 0.0, 0.0),
        operands=(tensor("logits input", "n 5"), tensor("labels target", "n 5", "probabilities")),
        alike=False,
        unmatched=("sparse", "weight", *DEPRECATED),
        facts=("dense_labels",),
    ),
    _loss(
        "nll_loss",
        "NLLLoss",
        "",
        both("ignore_index", -100, -100, 1),
        REDUCTION,
        operands=(tensor("logits input", "n 5", "logarithms"), CLASSES[1]),
        unmatched=("weight", *DEPRECATED),
    ),
    _loss(
        "binary_cross_entropy",
        "BCELoss",
        "",
        REDUCTION,
        operands=(tensor("logits input", "n c", "unit"), tensor("labels target", "n c", "unit")),
        unmatched=("weight", *DEPRECATED),
        facts=("probabilities_called_logits",),
    ),
    _loss(
        "binary_cross_entropy_with_logits",
        "BCEWithLogitsLoss",
        "",
        REDUCTION,
        operands=(tensor("logits input", "n c"), tensor("labels target", "n c", "targets")),
        unmatched=("weight", "pos_weight", *DEPRECATED),
        facts=("first_size",),
    ),
    _loss(
        "kl_div",
        "KLDivLoss",
        "",
        both("reduction", "mean", "mean", "batchmean", "sum", "none"),
        only_torch("log_target", False, False),
        operands=(
            tensor("logits input", "n 5", "logarithms"),
            tensor("labels target", "n 5", "probabilities"),
        ),
        facts=("target_without_gradient",),
    ),
    _loss(
        "cosine_embedding_loss",
        "CosineEmbeddingLoss",
        "",
        both("margin", 0.0, 0.0, 0.5),
        REDUCTION,
        operands=(
            tensor("logits_x1 input1", "n c"),
            tensor("logits_x2 input2", "n c"),
            tensor("labels target", "n", "signs"),
        ),
    ),
    _loss(
        "margin_ranking_loss",
        "MarginRankingLoss",
        "",
        both("margin", 0.0, 0.0, 0.5),
        REDUCTION,
        operands=(
            tensor("input1", "n"),
            tensor("input2", "n"),
            tensor("target", "n", "signs"),
        ),
        alike=False,
    ),
    _loss(
        "multilabel_soft_margin_loss",
        "MultiLabelSoftMarginLoss",
        "",
        REDUCTION,
        operands=(tensor("x input", "n c"), tensor("target", "n c", "unit")),
        alike=False,
        unmatched=("weight", *DEPRECATED),
    ),
    _loss(
        "gaussian_nll_loss",
        "GaussianNLLLoss",
        "",
        both("full", False, False, True),
        both("eps", 1e-6, 1e-6, 0.5),
        REDUCTION,
        operands=(
            tensor("logits input", "n c"),
            tensor("labels target", "n c"),
            tensor("var", "n c", "factors"),
        ),
        alike=False,
        unmatched=(),
        facts=("clamped_variance",),
    ),
)
