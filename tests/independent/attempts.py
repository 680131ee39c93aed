"""What a call gives, or the type of what it raises, and results as plain lists."""

import sys
from collections.abc import Callable
from typing import Any


def attempt(call: Callable[..., Any], *arguments: Any, with_message: bool = False) -> Any:
    """The call's own value, or ``{"raised": "TypeError"}``, with the message where that is wanted."""
    try:
        return call(*arguments)
    except Exception as error:  # which class it is, is the question
        raised = {"raised": type(error).__name__}
        return {**raised, "message": str(error)} if with_message else raised
    finally:
        # A call on MindSpore's tape that raised leaves it recording (2.10.0).
        if "mindspore" in sys.modules:
            from mindspore.common.api import _pynative_executor

            _pynative_executor.set_grad_flag(False)


def plain(result: Any) -> Any:
    """Tensors of either framework as lists of numbers, however nested."""
    if isinstance(result, tuple | list):
        return [plain(part) for part in result]
    return result.tolist()
