"""Methods of tensors whose effect MindSpore's dispatch mode does not see (2.10.0)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mindspore as ms

INDEXING = "__getitem__"


@contextmanager
def indexing_watched(watch: Callable[[Any, Any], None]) -> Iterator[None]:
    """Call ``watch`` meanwhile with a tensor that is indexed, and with whatever that returns."""
    method = getattr(ms.Tensor, INDEXING)
    is_inherited = INDEXING not in vars(ms.Tensor)

    def indexed(tensor: Any, index: Any) -> Any:
        part = method(tensor, index)
        watch(tensor, part)
        return part

    setattr(ms.Tensor, INDEXING, indexed)
    try:
        yield
    finally:
        if is_inherited:
            delattr(ms.Tensor, INDEXING)
        else:
            setattr(ms.Tensor, INDEXING, method)


ASSIGNMENT = "assign_value"
"""What a parameter runs where a Cell's attribute of its name is set to a tensor (2.10.0)."""


@contextmanager
def assignments_watched(
    before: Callable[[Any], None], after: Callable[[Any, Any], None]
) -> Iterator[None]:
    """Call ``before`` with a tensor that is about to be assigned another one, ``after`` with both."""
    method = getattr(ms.Tensor, ASSIGNMENT)

    def assigned(tensor: Any, value: Any) -> Any:
        before(tensor)
        result = method(tensor, value)
        after(tensor, value)
        return result

    setattr(ms.Tensor, ASSIGNMENT, assigned)
    try:
        yield
    finally:
        setattr(ms.Tensor, ASSIGNMENT, method)
