"""A vector output: its gradient is seeded by a vector of its shape."""

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.numeric.cotangents import cotangent
from tests.support.scenario_reports import BY_BOTH, Reports, all_say, row, values_of

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_a_vector_output_is_seeded_by_a_vector_of_its_shape(report: Reports) -> None:
    whole = report("vector_chain")
    v, y = values_of(whole)["v"], np.ones((2, 2))
    all_say(row(whole, GradCase("grad", 0, has_aux=True)), {"dx": 2 * v})
    all_say(row(whole, BY_BOTH), {"dx": 2 * v + 2 * np.ones((2, 2)), "dv": y})

    seeds = cotangent(0, (), "float64"), cotangent(1, (2, 2), "float64")
    sens = GradCase("GradOperation", (0, 1), get_all=True, sens_param=True)
    all_say(row(whole, sens), {"dx": 2 * (v * seeds[0] + seeds[1]), "dv": y * seeds[0]})
