"""What a call gives, or the type of what it raises."""

import sys
from collections.abc import Callable
from typing import Any


def attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """The call's own value, or ``{"raised": "TypeError"}``."""
    try:
        return call(*arguments)
    except Exception as error:  # which class it is, is the question
        return {"raised": type(error).__name__}
    finally:
        _leave_no_recording()


def _leave_no_recording() -> None:
    # A call on MindSpore's tape that raised leaves it recording (2.10.0).
    if "mindspore" in sys.modules:
        from mindspore.common.api import _pynative_executor

        _pynative_executor.set_grad_flag(False)
