"""The conventions, group by group: their names in figures and texts; no framework here."""

from typing import Literal

Group = Literal["calls", "values", "layers", "optimizers", "functional"]

CALLS = (
    "vector_output",
    "integer_output",
    "unused_input",
    "integer_input",
    "number_input",
    "numpy_input",
    "dict_input",
    "complex_input",
    "aliased_input",
    "default_position",
    "tuple_of_one",
    "reversed_positions",
    "negative_position",
    "repeated_position",
    "two_outputs",
    "has_aux",
    "has_aux_of_one_output",
    "value_and_gradient",
    "pulled_back_twice",
    "branch_on_value",
    "written_in_place",
    "stopped",
    "second_order",
)
"""What a gradient call takes and returns."""

VALUES = (
    "integers",
    "float64_array",
    "quotient_of_integers",
    "integer_and_float",
    "integer_and_half",
    "sum_of_integers",
    "sum_of_bools",
    "mean_of_integers",
    "divided_by_zero",
    "remainder_of_negative",
    "half_rounded",
    "index_out_of_bounds",
    "negative_index_out_of_bounds",
    "argmax_of_ties",
    "argsort_of_ties",
    "median_of_four",
    "std_of_four",
    "clipped_to_crossed_bounds",
    "gelu",
    "leaky_relu",
    "softmax_axis",
    "cross_entropy_reduced",
)
"""What functions give where nothing is said, or where a framework may choose."""

LAYERS = (
    "layer_norm_epsilon",
    "batch_norm_epsilon",
    "group_norm_epsilon",
    "batch_norm_weight_of_batch",
    "batch_norm_variance",
    "starts_in_training",
    "dropout_of_0_3",
    "dense_weight",
    "dense_bias",
    "conv_weight",
    "conv_bias",
    "conv_output",
    "max_pool_output",
)
"""What layers are made with where nothing is said."""

OPTIMIZERS = (
    "rate",
    "adam_epsilon",
    "adamw_decay",
    "rmsprop_decay",
    "rmsprop_first_step",
    "adagrad_start",
    "adagrad_first_step",
    "momentum_second_step",
    "in_place",
)
"""What optimizers begin with, and their first steps."""

FUNCTIONAL = (
    "reused",
    "value_and_gradient",
    "extra_output",
    "training_step",
    "compiled_step",
    "compiled_state",
)
"""What guide 003 states of MindSpore's functional API, and whether it is so."""

NAMES: dict[Group, tuple[str, ...]] = {
    "calls": CALLS,
    "values": VALUES,
    "layers": LAYERS,
    "optimizers": OPTIMIZERS,
    "functional": FUNCTIONAL,
}
"""The conventions of each group, in the order of its table."""
