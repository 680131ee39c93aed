"""A mixture of experts of which the best two are chosen."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    BY_BOTH,
    FLOAT32,
    Reports,
    all_say,
    leaves,
    row,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_only_chosen_experts_and_their_scores_get_gradients(report: Reports) -> None:
    whole = report("top_k_mixture")
    scores, answers = values_of(whole)["scores"], values_of(whole)["answers"]
    chosen = scores >= np.sort(scores)[:, -2:-1]
    weights = np.where(chosen, np.exp(scores), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    mean = (weights * answers).sum(axis=1, keepdims=True)
    both = row(whole, BY_BOTH)
    all_say(both, {"dscores": weights * (answers - mean), "danswers": weights}, FLOAT32)
    assert chosen.any(axis=0).tolist() == [True, True, True, False]
    for engine in ENGINES:
        for gradient in leaves(both, engine).values():
            assert not gradient[~chosen].any(), engine
