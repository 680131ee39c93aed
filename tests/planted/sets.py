"""Sets of mistakes in one net that do not hide one another."""

from tests.planted.library import LIBRARY
from tests.planted.mistake import Mistake

_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "padded_classifier": (
        ("default_epsilon", "relu_for_elu"),
        ("padding_not_counted", "smoothing_left_out"),
        ("default_slope", "dilation", "flattened_as_nhwc"),
    ),
    "inverted_residual": (
        ("swish_for_hard_swish", "default_delta"),
        ("maximum_for_mean", "tanh_left_out"),
        ("sigmoid_for_hard_sigmoid", "default_epsilon", "floor_mode"),
    ),
    "causal_attention": (
        ("mask_off_by_one", "approximate_gelu"),
        ("scale_left_out", "epsilon_of_the_norm"),
        ("heads_not_transposed_back", "second_residual_left_out"),
        ("scaled_by_the_width", "approximate_gelu", "sum_for_mean"),
    ),
    "upsampling_unet": (
        ("corners_aligned", "weight_of_the_dice"),
        ("maximum_for_average", "weights_swapped"),
        ("groups_of_the_norm", "skip_behind", "smoothing_of_the_denominator"),
    ),
    "spatial_gating": (
        ("approximate_gelu", "temperature_multiplied"),
        ("one_left_out", "first_token_for_mean"),
    ),
    "style_transfer": (
        ("edge_for_mirror", "squared_variation"),
        ("unbiased_variance", "bilinear_for_nearest"),
        ("same_padding_with_stride", "weight_of_the_look"),
    ),
    "detector": (
        ("default_beta", "power"),
        ("alpha_of_the_other_class", "weight_of_the_overlap"),
        ("bias_left_out", "sum_over_the_boxes", "intersection_counted_twice"),
    ),
    "lstm_by_hand": (
        ("forget_bias", "memory_for_state"),
        ("hard_sigmoid", "last_step_left_out"),
    ),
    "gru_by_hand": (
        ("reset_of_all", "squared_error"),
        ("not_turned_back", "gate_of_the_other_part"),
    ),
    "padded_language_model": (
        ("padding_counts", "exact_gelu"),
        ("scale_left_out", "sum_along_the_features"),
        ("positions_from_one", "target_not_shifted", "norm_of_the_first_part"),
    ),
    "tied_recurrence": (
        ("inclusive_sum", "relu_for_tanh"),
        ("discounted_once_more", "weight_cut_off"),
    ),
    "rotary_block": (
        ("turned_backwards", "gelu_for_silu"),
        ("mask_off_by_one", "sum_for_mean"),
        ("keys_not_turned", "gate_and_value_swapped", "epsilon_of_the_root"),
    ),
    "switch_experts": (
        ("gate_left_out", "weight_of_the_balance"),
        ("softmax_twice", "not_squared"),
    ),
    "shifted_windows": (
        ("positions_transposed", "temperature_not_squared"),
        ("scale_left_out", "mean_over_classes"),
    ),
    "quantised_autoencoder": (
        ("mean_over_the_features", "weight_of_the_commitment"),
        ("relu_for_tanh", "features_drawn_to_the_code"),
    ),
    "graph_attention": (
        ("default_slope", "bias_left_out"),
        ("root_left_out", "mean_over_all_nodes"),
        ("loops_left_out", "softmax_over_sources", "bias_left_out"),
    ),
    "momentum_contrast": (
        ("temperature_multiplied", "query_not_normalised"),
        ("key_not_cut_off", "positive_last"),
    ),
    "actor_critic": (
        ("biased_deviation", "sign_of_the_entropy"),
        ("relu_for_softplus", "weight_of_the_critic"),
        ("ends_not_masked", "entropy_averaged"),
    ),
    "velocity_diffusion": (
        ("cosine_first", "not_squared"),
        ("one_left_out", "groups_of_the_norm", "image_and_noise_swapped"),
    ),
    "quantile_forecast": (
        ("biased_deviation", "exponential_for_softplus"),
        ("padded_behind", "penalty_left_out", "mean_over_the_levels"),
    ),
    "twin_views": (
        ("rate_of_the_dropout", "code_not_cut_off"),
        ("relu_before_norm", "mean_for_sum"),
    ),
    "gaussian_vae": (
        ("variance_for_deviation", "silu_for_mish"),
        ("bounds_of_the_variance", "weight_of_the_divergence"),
        ("selu_for_elu", "deviation_for_variance", "one_left_out", "divergence_averaged"),
    ),
}
"""The mistakes of each set, by their net."""


def _sets() -> dict[str, tuple[Mistake, ...]]:
    """The sets by name: the net, and the number of the set in it."""
    sets = {}
    for net, sets_of_net in _NAMES.items():
        for number, names in enumerate(sets_of_net, 1):
            sets[f"{net}-{number}"] = tuple(LIBRARY[f"{net}-{name}"] for name in names)
    return sets


SETS = _sets()
