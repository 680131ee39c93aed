"""What PyTorch's measuring functions share: numbers of tensors."""

from typing import Any

import torch


def numbers(value: Any) -> Any:
    """Nested lists of the numbers of tensors, in the nesting given."""
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    return value.detach().cpu().tolist() if isinstance(value, torch.Tensor) else value
