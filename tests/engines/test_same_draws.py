"""PyTorch's two styles draw the same random numbers, in answers and in captures."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured, Result
from explorer.workers.workers import Workers
from tests.support.engine_requests import TORCH_ENGINES, reply
from tests.support.scenario_files import written

pytestmark = pytest.mark.torch

TEXT = """
import numpy as np
SAME_DROPOUT = False
def inputs():
    return {"x": np.array([1.0, -2.0, 0.5], np.float32)}
def torch_net():
    import torch
    return lambda x: (x * torch.rand(3)).sum()
"""
"""A net whose gradient is what it draws."""


def test_answers_and_captures_of_both_styles_draw_alike(workers: Workers, tmp_path: Path) -> None:
    path = str(written(tmp_path, TEXT))
    drawn = []
    for engine in TORCH_ENGINES:
        request = CaseRequest(NetRequest(scenario=path, engine=engine), GradCase("grad", 0))
        module = ENGINES[engine].module
        answer = reply(workers.call("torch", f"{module}:answer", request, Result))
        captured = reply(workers.call("torch", f"{module}:capture", request, Captured)).result
        for result in (answer, captured):
            assert result.outcome == "ok", result.error
            drawn.append(unpack(result.leaves[0].value).tolist())
    program = "import torch; torch.manual_seed(0); print(torch.rand(3).tolist())"
    by_hand = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert drawn == [ast.literal_eval(by_hand.stdout.decode())] * len(drawn)
