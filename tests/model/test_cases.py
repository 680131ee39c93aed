"""GradCase: how it is written, as a reader of the API pages would type it, and what it asks for."""

import pytest

from explorer.model.cases import GradCase, Weights

BY_LIST = GradCase("GradOperation", 0, "all", get_by_list=True)
BY_ALL = GradCase("GradOperation", (0, 1), get_all=True, sens_param=True)


@pytest.mark.parametrize(
    ("case", "label", "short"),
    [
        (
            GradCase("grad"),
            "grad(net, grad_position=None, weights=None, has_aux=False)",
            "grad(None)",
        ),
        (
            GradCase("value_and_grad", (0, 1), "all", has_aux=True),
            "value_and_grad(net, grad_position=(0, 1), weights=all, has_aux=True)",
            "value_and_grad((0, 1), weights=all, has_aux)",
        ),
        (GradCase("grad", 1, order=3), "grad(grad(grad(net, 1), 1), 1)", None),
        (
            BY_LIST,
            "GradOperation(get_all=False, get_by_list=True, sens_param=False)(net, weights)",
            "GradOperation(get_by_list)",
        ),
        (
            BY_ALL,
            "GradOperation(get_all=True, get_by_list=False, sens_param=True)(net)",
            "GradOperation(get_all, sens_param)",
        ),
    ],
)
def test_a_case_is_written_as_the_call_that_asks_it(
    case: GradCase, label: str, short: str | None
) -> None:
    assert case.label == label
    assert case.short == (label if short is None else short)


def test_a_case_asks_for_no_more_than_it_is_told_to() -> None:
    case = GradCase("grad", 0)
    assert (case.weights, case.has_aux, case.order) == (None, False, 1)
    assert (case.get_all, case.get_by_list, case.sens_param) == (False, False, False)
    assert GradCase("grad").grad_position is None


@pytest.mark.parametrize(
    ("case", "positions", "must_fail"),
    [
        (GradCase("grad"), (), True),
        (GradCase("grad", ()), (), True),
        (GradCase("grad", 0), (0,), False),
        (GradCase("grad", (1, 0)), (1, 0), False),
        (GradCase("grad", None, "one"), (), False),
    ],
)
def test_a_case_without_position_and_weights_asks_for_nothing(
    case: GradCase, positions: tuple[int, ...], must_fail: bool
) -> None:
    assert case.positions == positions
    assert case.must_fail is must_fail


@pytest.mark.parametrize(
    ("weights", "names"), [(None, ()), ("one", ("fc.weight",)), ("all", ("fc.weight", "fc.bias"))]
)
def test_a_case_differentiates_no_parameter_the_first_or_all(
    weights: Weights | None, names: tuple[str, ...]
) -> None:
    case = GradCase("grad", 0, weights)
    assert case.weight_names(("fc.weight", "fc.bias")) == names
    assert case.weight_names(()) == ()
