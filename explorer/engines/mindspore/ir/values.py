"""Reads operands and attribute values: atoms, and nested tuples, lists and dictionaries of them."""

import re

from explorer.engines.mindspore.ir.atoms import CLOSERS, Scope, read_atom
from explorer.engines.mindspore.ir.lines import Fault
from explorer.engines.mindspore.ir.records import (
    DictValue,
    KeywordValue,
    SequenceValue,
    StringValue,
    Value,
)

_KEYWORD = re.compile(r"KeywordArg\[key : (.*?), value : ")
_KEY = re.compile(r"([^\s:(){}\[\]\"]+(?: name)?): ")
_PARAMETER_KEY = "[Key]"
_QUICK_STRING = re.compile(r'"([^"\n]*)"(?=, |\})')


class _OpenValue:
    """A bracket that has been opened and the values read in it so far.

    ``key`` is that of a keyword, which holds one value; None for any other bracket.
    """

    def __init__(self, closer: str, key: str | None = None) -> None:
        self.closer, self.key = closer, key
        self.keys: list[Value] = []
        self.values: list[Value] = []

    def add(self, value: Value, text: str, at: int) -> tuple[bool, int]:
        """Adds a value and reads the separator or bracket behind it.

        Returns whether that closes the bracket, and the offset behind it.
        """
        if self.closer == "}" and len(self.keys) == len(self.values):
            if not text.startswith(": ", at):
                raise Fault(at, "': ' and the value of a dictionary's key")
            self.keys.append(value)
            return False, at + 2
        self.values.append(value)
        if text.startswith(self.closer, at):
            return True, at + 1
        if self.key is not None:
            raise Fault(at, repr(self.closer))
        if text.startswith(", ", at):
            return False, at + 2
        raise Fault(at, f"', ' or {self.closer!r}")

    def close(self) -> Value:
        """The whole value."""
        if self.key is not None:
            return KeywordValue(self.key, self.values[0])
        if self.closer == "}":
            return DictValue(tuple(self.keys), tuple(self.values))
        return SequenceValue("tuple" if self.closer == ")" else "list", tuple(self.values))


def read_value(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    """The value at an offset, however deep it nests, and the offset behind it."""
    open_values: list[_OpenValue] = []
    while True:
        opened, at = _open(text, at)
        if opened is None:
            value, at = read_atom(text, at, scope)
        elif opened.key is None and text.startswith(opened.closer, at):
            value, at = opened.close(), at + 1
        else:
            open_values.append(opened)
            continue

        # A finished value belongs to the bracket around it, which may be finished with it.
        while open_values:
            finished, at = open_values[-1].add(value, text, at)
            if not finished:
                break
            value = open_values.pop().close()
        else:
            return value, at


def _open(text: str, at: int) -> tuple[_OpenValue | None, int]:
    """The bracket that is opened at an offset, if one is, and the offset behind it."""
    keyword = _KEYWORD.match(text, at)
    if keyword is not None:
        return _OpenValue("]", keyword[1]), keyword.end()
    closer = CLOSERS.get(text[at : at + 1])
    # "[Key][Parameter]fc.weight" is no list, but the name of a key.
    if closer is None or text.startswith(_PARAMETER_KEY, at):
        return None, at
    return _OpenValue(closer), at + 1


# Operands and attributes


def read_operands(text: str, at: int, scope: Scope) -> tuple[tuple[Value, ...], int]:
    """The operands from behind "(" to behind ")"."""
    if text.startswith(")", at):
        return (), at + 1
    operands: list[Value] = []
    while True:
        value, at = scope.quick(text, at) or read_value(text, at, scope)
        operands.append(value)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith(")", at):
            return tuple(operands), at + 1
        else:
            raise Fault(at, "', ' or ')'")


def read_attributes(text: str, at: int, scope: Scope) -> tuple[dict[str, Value], int]:
    """The attributes from behind "{" to behind "}"."""
    attributes: dict[str, Value] = {}
    while True:
        key = _KEY.match(text, at)
        if key is None:
            raise Fault(at, "the name of an attribute and ': '")
        if key[1] in attributes:
            raise Fault(at, "an attribute that has not been given yet")
        at = key.end()
        string = _QUICK_STRING.match(text, at)
        if string is not None:
            attributes[key[1]], at = StringValue(string[1]), string.end()
        else:
            attributes[key[1]], at = scope.quick(text, at) or read_value(text, at, scope)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return attributes, at + 1
        else:
            raise Fault(at, "', ' or '}'")
