"""GradCase: what a case asks for."""

import pytest

from explorer.model.cases import GradCase, Weights


@pytest.mark.parametrize(
    ("weights", "names"), [(None, ()), ("one", ("fc.weight",)), ("all", ("fc.weight", "fc.bias"))]
)
def test_a_case_differentiates_no_parameter_the_first_or_all(
    weights: Weights | None, names: tuple[str, ...]
) -> None:
    case = GradCase("grad", 0, weights)
    assert case.weight_names(("fc.weight", "fc.bias")) == names
    assert case.weight_names(()) == ()
