"""Values that are known not to be None, or to be of a class: a test fails where they are not."""

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value, which is not None."""
    assert value is not None
    return value


def of_type(kind: type[T], value: object) -> T:
    """The value, which is of a class."""
    assert isinstance(value, kind), value
    return value
