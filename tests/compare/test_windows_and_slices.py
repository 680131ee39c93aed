"""What is tried with windows, slices and eps: padding of both ends of an axis, other places along one."""

from explorer.compare.causes.arguments import Shapes, argument_changes, padded, slices
from explorer.model.causes import SetArguments
from explorer.model.graph import Arguments, ArgumentValue, Node, Output
from tests.support.narrowing import of_type

IMAGE = 2, 4, 12, 12
POOLED = 2, 4, 6, 6


def node(op: str, shape: tuple[int, ...], arguments: Arguments) -> Node:
    output = Output(shape, "float32")
    return Node(id="n0", op=op, kind="op", phase="forward", outputs=(output,), arguments=arguments)


def pooling(padding: tuple[int, ...]) -> Node:
    arguments: Arguments = {
        "window_dimensions": (1, 1, 3, 3),
        "window_strides": (1, 1, 2, 2),
        "padding": padding,
        "window_dilation": (1, 1, 1, 1),
    }
    return node("reduce_window_max", POOLED, arguments)


def paddings(node: Node, read: Shapes, target: tuple[int, ...]) -> list[ArgumentValue]:
    """The padding of each edit that is tried."""
    edits = (of_type(SetArguments, edit) for (edit,) in padded(node, read, target))
    return [edit.arguments["padding"] for edit in edits]


def test_windows_are_padded_at_the_ends_of_each_axis_so_that_there_are_as_many_as_are_wanted() -> (
    None
):
    at_both = pooling((0, 0, 0, 0, 1, 1, 1, 1))
    at_the_end, at_the_beginning = (0, 0, 0, 0, 0, 1, 0, 1), (0, 0, 0, 0, 1, 0, 1, 0)
    assert paddings(at_both, {0: IMAGE}, POOLED) == [at_the_end, at_the_beginning]
    others = paddings(pooling(at_the_end), {0: IMAGE}, POOLED)
    assert others == [at_the_beginning], "not what it is given"
    assert not list(padded(at_both, {0: IMAGE}, (2, 4, 5, 5))), "fewer windows need no padding"
    unknown = node("custom", POOLED, at_both.arguments)
    assert not list(padded(unknown, {0: IMAGE}, POOLED))


def convolution(layout: str, shape: tuple[int, ...]) -> Node:
    arguments: Arguments = {
        "window_strides": (2, 2),
        "padding": (1, 1, 1, 1),
        "rhs_dilation": (1, 1),
        "dimension_numbers": f"ConvDimensionNumbers({layout})",
    }
    return node("conv_general_dilated", shape, arguments)


def test_a_convolution_is_padded_along_the_axes_that_are_spatial() -> None:
    first = convolution(
        "lhs_spec=(0, 1, 2, 3), rhs_spec=(0, 1, 2, 3), out_spec=(0, 1, 2, 3)", POOLED
    )
    read = {0: IMAGE, 1: (4, 4, 3, 3)}
    wanted = [(0, 1, 0, 1), (1, 0, 1, 0)]
    assert paddings(first, read, POOLED) == wanted
    last = 2, 6, 6, 4
    channels_last = convolution(
        "lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2)", last
    )
    read = {0: (2, 12, 12, 4), 1: (3, 3, 4, 4)}
    assert paddings(channels_last, read, last) == wanted
    assert not list(padded(convolution("", POOLED), read, POOLED)), "axes that are not known"


TOKENS = 2, 5, 8


def test_a_slice_is_tried_at_the_first_the_last_and_the_nearest_places_of_an_axis() -> None:
    sizes: Arguments = {"start_indices": (0, 3, 0), "slice_sizes": (2, 1, 8)}
    token = node("dynamic_slice", (2, 1, 8), sizes)
    assert [it["start_indices"] for it in slices(token, TOKENS, (2, 1, 8))] == [
        (0, 0, 0),
        (0, 4, 0),
        (0, 2, 0),
    ]
    limits: Arguments = {"start_indices": (0, 0, 0), "limit_indices": (2, 3, 8), "strides": None}
    tokens = node("slice", (2, 3, 8), limits)
    assert list(slices(tokens, TOKENS, (2, 3, 8))) == [
        {"start_indices": (0, 2, 0), "limit_indices": (2, 5, 8)},
        {"start_indices": (0, 1, 0), "limit_indices": (2, 4, 8)},
        {"start_indices": (0, 0, 0), "limit_indices": (2, 5, 8), "strides": (1, 2, 1)},
    ]


def test_a_slice_with_steps_is_tried_without_them_and_other_ops_at_no_other_place() -> None:
    steps: Arguments = {
        "start_indices": (0, 0, 0),
        "limit_indices": (2, 4, 8),
        "strides": (1, 2, 1),
    }
    found = list(slices(node("slice", (2, 2, 8), steps), TOKENS, (2, 2, 8)))
    assert [it["start_indices"] for it in found] == [(0, 0, 0), (0, 3, 0)]
    assert all(it["strides"] == (1, 1, 1) for it in found)
    assert not list(slices(node("exp", TOKENS, {}), TOKENS, TOKENS))


def test_a_zero_of_the_other_side_is_tried_as_an_eps_after_what_it_has_beside_it() -> None:
    # A mean of squares less the square of the mean is bounded by 0, and then has 1e-12 added.
    changes = argument_changes({"eps": 1e-3}, (0.0, 1e-12), rank=3).single
    tried = [change["eps"] for change in changes]
    assert tried.index(1e-12) < tried.index(0.0)
