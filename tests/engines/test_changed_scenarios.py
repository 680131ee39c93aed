"""A scenario that is saved again is answered for as it reads now, in workers that know it from before."""

import os
from pathlib import Path

import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Result
from explorer.workers.workers import Workers
from tests.support.scenario_files import written
from tests.support.standard_engines import ENGINES

TEXT = """
import numpy as np
def inputs():
    return {"x": np.array([1.0, -2.0], np.float32)}
def mindspore_net():
    from mindspore import nn
    class Net(nn.Cell):
        def construct(self, x):
            return (FACTOR * x).sum()
    return Net()
def torch_net():
    from torch import nn
    class Net(nn.Module):
        def forward(self, x):
            return (FACTOR * x).sum()
    return Net()
"""


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=getattr(pytest.mark, engine.framework))
        for name, engine in ENGINES.items()
    ],
)
def test_a_scenario_saved_again_in_the_same_second_is_answered_for_as_it_reads_now(
    workers: Workers, engine: str, tmp_path: Path
) -> None:
    times = None
    for factor in (2, 3):
        path = written(tmp_path, TEXT.replace("FACTOR", str(factor)))
        times = times or (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        os.utime(path, ns=times)
        request = CaseRequest(NetRequest(scenario=str(path), engine=engine), GradCase("grad", 0))
        kind, target = ENGINES[engine].answers_in[0], f"{ENGINES[engine].module}:answer"
        result = workers.call(kind, target, request, Result)
        assert isinstance(result, Result)
        assert result.outcome == "ok", result.error
        assert unpack(result.leaves[0].value).tolist() == [factor, factor]
