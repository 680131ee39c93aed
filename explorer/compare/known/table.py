"""The table of divergences that are known, and what it says of one.

Seen with MindSpore 2.10 and PyTorch 2.13; a test has a net for each row.
"""

from typing import NamedTuple

from explorer.compare.graphs.view import GraphView
from explorer.compare.known.by_cause import (
    is_one_tensor,
    one_is,
    pads_one_end_more,
    the_other_way_round,
)
from explorer.compare.known.by_kinks import are_at_one_kink, are_other_spellings
from explorer.compare.known.by_settings import (
    axes_are_those_swapped,
    has_alpha_of_selu,
    have_one_padding_index,
    is_evaluated_by_layer,
    moves_on,
    order_is_infinite,
    pads_alone,
    pads_before_it_pools,
    rates_are_exchanged,
    tracks_nothing,
)
from explorer.compare.known.by_updates import (
    a_saved_result_is_overwritten,
    a_write_is_lost,
    is_computed_in_vain,
)
from explorer.compare.known.by_values import (
    a_row_is_masked,
    differs_little,
    equal_elements_come_out_unequal,
    has_a_number_of_many_digits,
    inputs_are_equal,
    is_float32,
    is_nan_at_zero,
    is_near_one,
    is_near_zero,
    is_not_reduced,
    is_rounded_to_single,
    is_rounded_with_a_few_more,
    is_zero_to_the_zeroth,
    label_is_read,
    nan_is,
)
from explorer.compare.known.sight import Condition, Side, Sight, sight
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence
from explorer.model.engines import plain
from explorer.model.graph import Phase
from explorer.model.known import Reference


class Row(NamedTuple):
    """What a divergence must be for ``reference`` to be about it.

    ``parties`` are two frameworks or engines in the order of the sides. ``ops`` are bare names or
    families of their ops, apart by blanks, "" for any: in ``backward`` of those that are
    differentiated. All ``conditions`` must be true.
    """

    reference: Reference
    parties: tuple[str, str]
    phase: Phase
    ops: tuple[str, str]
    conditions: tuple[Condition, ...]


def _claim(number: int) -> Reference:
    return Reference("claim", str(number))


def _surprise(name: str) -> Reference:
    return Reference("surprise", name)


BOTH = ("mindspore", "torch")
"""Either engine of MindSpore beside either of PyTorch."""


def _forward(reference: Reference, ours: str, theirs: str, *conditions: Condition) -> Row:
    return Row(reference, BOTH, "forward", (ours, theirs), conditions)


def _backward(reference: Reference, ours: str, theirs: str, *conditions: Condition) -> Row:
    return Row(reference, BOTH, "backward", (ours, theirs), conditions)


FOUR = "add sub mul div"
EQUAL = inputs_are_equal

ROWS = (
    # Layers and their settings
    _forward(_claim(43), "batchnorm", "batchnorm", the_other_way_round("momentum")),
    _forward(_claim(42), "batchnorm", "batchnorm", tracks_nothing),
    _forward(
        _surprise("layer_norm_epsilon"),
        "layernorm",
        "layernorm",
        one_is(1e-5, 1e-7, "eps", "epsilon"),
    ),
    _forward(_surprise("strided_padding"), "conv conv2d", "conv", pads_one_end_more, moves_on),
    _forward(_claim(47), "conv conv2d maxpool", "conv maxpool", pads_one_end_more),
    _forward(_claim(69), "conv conv2d", "conv", pads_alone),
    _forward(_claim(87), "padv3 pad", "maxpool", pads_before_it_pools),
    _forward(_claim(41), "", "", rates_are_exchanged),
    _forward(_claim(44), "", "", axes_are_those_swapped),
    _forward(_surprise("rrelu_evaluation"), "", "rreluwithnoise", is_evaluated_by_layer("RReLU")),
    _forward(_surprise("loss_reduction"), "crossentropy", "", is_not_reduced),
    _backward(_surprise("padding_index"), "embedding", "embedding", have_one_padding_index),
    # Values that are wrong, or have few digits
    _forward(_surprise("saturated_tanh"), "tanh", "tanh", EQUAL, is_float32, is_near_one),
    _forward(_surprise("lost_digits"), "log1p", "log1p", EQUAL, is_float32, is_near_zero),
    _forward(_surprise("lost_digits"), "expm1", "expm1", EQUAL, is_float32, is_near_zero),
    _forward(
        _surprise("unequal_outputs"),
        "softplus",
        "softplus",
        equal_elements_come_out_unequal,
        differs_little,
    ),
    _forward(
        _surprise("unequal_outputs"),
        "elu",
        "elu",
        equal_elements_come_out_unequal,
        differs_little,
    ),
    _forward(
        _surprise("double_precision"),
        FOUR,
        FOUR,
        EQUAL,
        has_a_number_of_many_digits,
        is_rounded_to_single,
    ),
    _forward(_surprise("single_precision_inside"), "celu", "celu", EQUAL, is_rounded_to_single),
    _forward(
        _surprise("single_precision_inside"),
        "logsoftmax",
        "logsoftmax",
        EQUAL,
        is_rounded_with_a_few_more,
    ),
    _forward(_surprise("masked_row"), "softmax", "softmax", EQUAL, nan_is(0.0), a_row_is_masked),
    _forward(_surprise("nan_minimum"), "minimum", "minimum", EQUAL, nan_is()),
    _forward(_surprise("nan_minimum"), "maximum", "maximum", EQUAL, nan_is()),
    # Gradients that are wrong, or follow another convention
    _backward(_surprise("selu"), "selu", "elu selu", has_alpha_of_selu),
    _backward(_surprise("label_gradient"), "", "", label_is_read),
    _backward(_surprise("power_of_zero"), "", "", is_zero_to_the_zeroth),
    _backward(_surprise("zero_norm"), "sqrt", "linalgvectornorm norm", is_nan_at_zero),
    _backward(_surprise("zero_norm"), "reducestd std", "std", is_nan_at_zero),
    _backward(_surprise("zero_norm"), "atan2", "atan2", is_nan_at_zero),
    _backward(_surprise("slopes_at_bounds"), "relu6", "hardtanh relu6", are_at_one_kink),
    _backward(_surprise("slopes_at_bounds"), "minimum maximum", "hardtanh", are_at_one_kink),
    _backward(_surprise("slopes_at_bounds"), "hswish hardswish", "hardswish", are_at_one_kink),
    _backward(
        _surprise("slopes_at_bounds"), "argmaxwithvalue", "linalgvectornorm", order_is_infinite
    ),
    _backward(_surprise("relu_at_zero"), "", "", are_other_spellings, are_at_one_kink),
    _backward(_surprise("same_tensor_twice"), "", "", is_one_tensor),
    _backward(_claim(31), "", "", is_one_tensor),
    # Updates in place
    Row(
        _surprise("in_place_nothing"),
        ("mindspore-tape", "torch"),
        "forward",
        ("", ""),
        (is_computed_in_vain,),
    ),
    Row(
        _surprise("in_place_nothing"),
        ("mindspore-tape", "mindspore-graph"),
        "forward",
        ("", ""),
        (is_computed_in_vain,),
    ),
    Row(
        _surprise("in_place_exp"),
        ("mindspore-graph", "torch"),
        "backward",
        ("", ""),
        (a_saved_result_is_overwritten,),
    ),
    Row(
        _surprise("view_write"),
        ("mindspore-tape", "torch"),
        "forward",
        ("", ""),
        (a_write_is_lost,),
    ),
)
"""All that is known, one row each."""


def known(
    alignment: Alignment,
    divergence: Divergence,
    cause: Cause | None,
    flows: tuple[GraphView, GraphView],
) -> tuple[Reference, ...]:
    """What is known of a divergence of two graphs, with its cause where one was found."""
    seen = sight(alignment, divergence, cause, flows)
    found = [row.reference for row in ROWS if _is_about(row, seen) or _is_about(row, seen.turned)]
    return tuple(dict.fromkeys(found))


def _is_about(row: Row, seen: Sight) -> bool:
    if row.phase != seen.divergence.phase:
        return False
    sides = zip(row.parties, row.ops, seen.sides, strict=True)
    if not all(_is_party(party, side) and _has_op(ops, side) for party, ops, side in sides):
        return False
    return all(is_true(seen) for is_true in row.conditions)


def _is_party(party: str, side: Side) -> bool:
    return party in (side.framework, plain(side.engine))


def _has_op(ops: str, side: Side) -> bool:
    return not ops or not side.names.isdisjoint(ops.split())
