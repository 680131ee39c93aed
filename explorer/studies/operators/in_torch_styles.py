"""PyTorch's two styles for the operators' measurements: eager functions, and the same as AOTAutograd's graph."""

from typing import Any

import torch

torch._dynamo.config.automatic_dynamic_shapes = False  # a second call with other shapes is not the first one made dynamic


def styled(function: Any, style: str) -> Any:
    """``function`` itself for the tape; for the graph, compiled to AOTAutograd's joint graph, run as it is."""
    if style == "tape":
        return function
    torch.compiler.reset()  # what was compiled before must not count: dynamo gives up on code compiled many times
    return torch.compile(function, backend="aot_eager", fullgraph=True)
