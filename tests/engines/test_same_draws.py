"""PyTorch's two styles draw the same random numbers, in answers and in captures."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.workers.workers import Workers
from tests.support.engine_requests import TORCH_ENGINES, answer, capture, of_file, values
from tests.support.scenario_files import function_net

pytestmark = pytest.mark.torch


def test_answers_and_captures_of_both_styles_draw_alike(workers: Workers, tmp_path: Path) -> None:
    # The net's gradient is what it draws.
    x = "np.array([1.0, -2.0, 0.5], np.float32)"
    body, declared = "return (x * torch.rand(3)).sum()", "SAME_DROPOUT = False"
    net = function_net(tmp_path, body, declared=declared, x=x)
    drawn = []
    for engine in TORCH_ENGINES:
        request = of_file(net, engine)
        results = answer(workers, request), capture(workers, request).result
        drawn += [values(result)["dx"] for result in results]
    program = "import torch; torch.manual_seed(0); print(torch.rand(3).tolist())"
    by_hand = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert drawn == [ast.literal_eval(by_hand.stdout.decode())] * len(drawn)
