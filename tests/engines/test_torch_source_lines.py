"""Source lines of PyTorch's nodes: the scenario's own, then other code of the user's, then torch.nn."""

from pathlib import Path

import pytest


@pytest.mark.torch
def test_the_lines_of_the_scenario_s_file_come_before_those_of_what_it_imports() -> None:
    from torch.nn.modules import linear

    from explorer.engines.torch.source_lines import source

    scenario, blocks = "/home/me/net.py", "/home/me/own/blocks.py"
    # Innermost first, as on the stack: torch.nn, the user's block, the net that calls it.
    lines = ((str(Path(linear.__file__)), 9), (blocks, 3), (blocks, 7), (scenario, 40))
    shown = ("net.py:40", "blocks.py:3", "blocks.py:7", "torch/nn/modules/linear.py:9")
    assert source(lines, scenario) == shown
