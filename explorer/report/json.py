"""Strict JSON documents of records: one walk, which a description of the document guides.

A description is a TypedDict: its keys are those of the document, in their order. A key has
the value of the record's field of its name, or what its ``By`` finds.
"""

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

from explorer.model.arrays import SMALL, Array, unpack
from explorer.model.results import Leaf
from explorer.numeric.summaries import summarise
from explorer.text.numbers import plain

Document = dict[str, Any]
"""Plain dicts, lists, strings and finite numbers, under keys in a stable order."""


class By(msgspec.Struct, frozen=True):
    """Where the value of a key is: a path of attributes, or a function of the record."""

    source: str | Callable[[Any], Any]  # of whichever record the description is of

    def find(self, record: Any) -> Any:
        """The value in a record."""
        if isinstance(self.source, str):
            return attrgetter(self.source)(record)
        return self.source(record)


def encode(document: Document) -> bytes:
    """A document as UTF-8 JSON, indented by two, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def to_builtins(record: Any) -> Any:
    """A record as dicts and lists, under the names that its fields have in JSON."""
    return msgspec.to_builtins(record, str_keys=True)


def document_of(record: Any, description: Any) -> Document:
    """A record as its description says."""
    document = {}
    for key, (source, hint) in _keys(description).items():
        document[key] = _converted(source.find(record), hint)
    return document


@lru_cache
def _keys(description: Any) -> dict[str, tuple[By, Any]]:
    """The keys of a description: where the value of each is, and its type."""
    keys = {}
    for key, hint in get_type_hints(description, include_extras=True).items():
        source = By(key)
        if get_origin(hint) is Annotated:
            hint, source = get_args(hint)
        keys[key] = (source, hint)
    return keys


def _converted(value: Any, hint: Any) -> Any:
    if value is None:
        return None
    if is_typeddict(hint):
        return document_of(value, hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return [_converted(item, arguments[0]) for item in value]
    if origin is dict:
        return {key: _converted(item, arguments[1]) for key, item in value.items()}
    if origin in (Union, UnionType):
        kinds = [kind for kind in arguments if kind is not NoneType]
        return _converted(value, kinds[0] if len(kinds) == 1 else Any)
    return _any(value)


def _any(value: Any) -> Any:
    """A value whose type the description leaves open."""
    if isinstance(value, Leaf):
        return array_document(value.value)
    if isinstance(value, Array):
        return array_document(value)
    if isinstance(value, msgspec.Struct):
        return plain(to_builtins(value))
    if isinstance(value, dict):
        return {str(key): _any(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_any(item) for item in value]
    return plain(value)


def array_document(array: Array) -> Any:
    """All elements of a small array as nested lists; shape, dtype and statistics of a larger one.

    An array is small up to SMALL elements; one without dimensions is a bare number. What is
    not finite is "NaN", "Infinity" or "-Infinity".
    """
    elements = unpack(array)
    if elements.size <= SMALL:
        return plain(elements.tolist())
    statistics = to_builtins(msgspec.structs.replace(summarise(elements, array.dtype), whole=None))
    # "whole" has raw bytes, which JSON has no place for.
    del statistics["whole"]
    return {"shape": list(array.shape), "dtype": array.dtype, **plain(statistics)}
