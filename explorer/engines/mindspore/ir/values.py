"""Reads operands and attribute values: atoms, and nested tuples, lists and dictionaries of them.

Atoms hold no other values: references, numbers, strings, tensors, and names.
"""

import re

from explorer.engines.mindspore.ir.lines import Fault
from explorer.engines.mindspore.ir.records import (
    DictValue,
    GraphRef,
    KeywordValue,
    NodeRef,
    OuterRef,
    ParameterRef,
    Scalar,
    SequenceValue,
    StringValue,
    Symbol,
    TensorValue,
    Value,
)

GRAPH = r"[^\s(),:\[\]{}]+"
"""The name of a subgraph."""

CLOSERS = {"(": ")", "[": "]", "{": "}"}
"""The bracket that closes each bracket."""

# The operands that make up nearly all of a file; each is known whole by its text.
_QUICK = re.compile(
    r"(?:%\d+|[A-Z][A-Za-z]*\d*\(-?[\w.+-]+\)|%para\d+_[\w.▸◂↓↵✓✗↻ф]*"
    rf"|@{GRAPH}|None|UMonad\[U\]|\$\(@{GRAPH}:\w+\))(?=, |[)}}])"
)

# The labels of parameters, which may hold anything: they are known by their numbers.
_LABEL = re.compile(r"(para\d+)_[^\s(),:]*")
_UNNUMBERED = re.compile(r"para_[^\s(),:]+")
_BEHIND_LABEL = frozenset({"", ",", ")", "]", "}", "[", "("})

# Atoms
_SCALAR = re.compile(r"([A-Z][A-Za-z]*\d*)\((-?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan))\)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?=[,)\]}]|$)")
_FLOATS = re.compile(r"[.ein]")
_TENSOR = re.compile(
    r"Tensor\(shape=\[((?:-?\d+(?:, -?\d+)*)?)\], dtype=(\w+),(?: \w+=[\w.:-]+,)* value="
)
_PARENTHESIS = re.compile(r"[()]")
_OUTER = re.compile(rf"\$\(@({GRAPH}):")
_INDEX = re.compile(r"\d+")
_NAME_OF_GRAPH = re.compile(GRAPH)
_END_OF_STRING = re.compile(r'"(?=, |[)\]}]|: |$)')

# Names with brackets
_CLOSING = frozenset(CLOSERS.values())
_SYMBOL = re.compile(r"[^\s\"'%$(){}\[\],][^\"'(){}\[\],\n]*|(?=\[)|'[^'\n]*'")
_IN_SYMBOL = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|[(\[{]|[)\]}]|, |[^\"'(){}\[\],\n]+|,|(.)", re.DOTALL
)


class Scope:
    """The names that operands may use: parameters by their ``labels``, and nodes by their numbers.

    ``nodes`` is how many nodes the subgraph at hand has so far.
    """

    def __init__(self, labels: list[str]) -> None:
        self._by_number: dict[str, list[str]] = {}
        # The longest first: of several labels that fit, it is the one meant.
        for label in sorted(set(labels), key=lambda label: (-len(label), label)):
            self._by_number.setdefault(label.partition("_")[0], []).append(label)
        self._known: dict[str, Value] = {}
        self.nodes = 0

    def quick(self, text: str, at: int) -> tuple[Value, int] | None:
        """A plain operand at an offset, None where it takes more to read."""
        match = _QUICK.match(text, at)
        if match is None:
            return None
        # A file repeats few operands many times.
        token = match[0]
        value = self._known.get(token)
        if value is None:
            try:
                value, end = read_atom(token, 0, self)
            except Fault as fault:
                raise Fault(at + fault.offset, fault.allowed) from None
            if end != len(token):
                return None
            self._known[token] = value
        elif token[0] == "%" and type(value) is NodeRef:
            self.check(value, at)
        return value, match.end()

    def check(self, node: NodeRef, at: int) -> None:
        """Refuses a reference to a node that has not been printed yet."""
        if node.index >= self.nodes:
            have = f"%0 … %{self.nodes - 1}" if self.nodes else "none so far"
            raise Fault(at, f"a node of this subgraph ({have})")

    def label(self, text: str, at: int) -> tuple[str, int] | None:
        """The label of the parameter at an offset (after "%"), and the offset behind it.

        None where there is no label.
        """
        number = _LABEL.match(text, at)
        if number is not None:
            labels = self._by_number.get(number[1], [])
            for label in labels:
                end = at + len(label)
                if text.startswith(label, at) and text[end : end + 1] in _BEHIND_LABEL:
                    return label, end
            if len(labels) == 1:
                # Some stages print one parameter under two names: the number counts (2.10.0).
                return labels[0], number.end()
        # Files of failed compilations have such labels, and declare them nowhere.
        unnumbered = _UNNUMBERED.match(text, at)
        return (unnumbered[0], unnumbered.end()) if unnumbered else None


# Atoms


def number(text: str) -> int | float:
    """A printed number."""
    return float(text) if _FLOATS.search(text) else int(text)


def read_atom(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    """The atom at an offset, and the offset behind it.

    Tuples, lists, dictionaries and keywords are no atoms: ``values.read_value`` reads them.
    """
    first = text[at : at + 1]
    if first == '"':
        return _read_string(text, at)
    if first == "%":
        return _read_percent(text, at, scope)
    if first == "$":
        return _read_outer(text, at, scope)
    if first == "@":
        return _read_graph(text, at)
    scalar = _SCALAR.match(text, at)
    if scalar is not None:
        value = number(scalar[2])
        return Scalar(bool(value) if scalar[1] == "Bool" else value, scalar[1]), scalar.end()
    plain = _NUMBER.match(text, at)
    if plain is not None:
        return Scalar(number(plain[0])), plain.end()
    tensor = _TENSOR.match(text, at)
    if tensor is not None:
        return _read_tensor(text, tensor)
    return _read_symbol(text, at)


def _read_string(text: str, at: int) -> tuple[Value, int]:
    # Quotes inside are not escaped: a string ends at the first quote that a separator or a bracket
    # follows.
    end = _END_OF_STRING.search(text, at + 1)
    if end is None:
        raise Fault(len(text), "'\"' at the end of the string")
    return StringValue(text[at + 1 : end.start()]), end.end()


def _read_percent(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    label = scope.label(text, at + 1)
    if label is not None:
        return ParameterRef(label[0]), label[1]
    digits = _INDEX.match(text, at + 1)
    if digits is None:
        raise Fault(at, "a node (%12) or a parameter that the file declares (%para1_x)")
    node = NodeRef(int(digits[0]))
    scope.check(node, at)
    return node, digits.end()


def _read_outer(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    opened = _OUTER.match(text, at)
    if opened is None:
        raise Fault(at, "a reference to a parent graph, $(@graph:name)")
    graph, start = opened[1], opened.end()
    value: Value
    label = scope.label(text, start)
    if label is not None:
        value, end = ParameterRef(label[0], graph), label[1]
    else:
        end = text.find(")", start)
        if end < 0:
            raise Fault(len(text), "')' after the name")
        value = OuterRef(graph, text[start:end])
    if text[end : end + 1] != ")":
        raise Fault(end, "')' after the name")
    return value, end + 1


def _read_graph(text: str, at: int) -> tuple[Value, int]:
    name = _NAME_OF_GRAPH.match(text, at + 1)
    if name is None:
        raise Fault(at + 1, "the name of a subgraph")
    return GraphRef(name[0]), name.end()


def _read_tensor(text: str, opened: re.Match[str]) -> tuple[Value, int]:
    depth = 1
    # Its elements may have parentheses of their own: complex numbers are printed in them.
    for mark in _PARENTHESIS.finditer(text, opened.end()):
        depth += 1 if mark[0] == "(" else -1
        if depth == 0:
            sizes = opened[1].split(", ") if opened[1] else ()
            value = text[opened.end() : mark.start()]
            return TensorValue(tuple(map(int, sizes)), opened[2], value), mark.end()
    raise Fault(len(text), "')' after the tensor's value")


def _read_symbol(text: str, at: int) -> tuple[Value, int]:
    """A name, with whatever brackets it carries, up to the next separator outside them."""
    opened = _SYMBOL.match(text, at)
    if opened is None:
        raise Fault(at, "a value")
    closers: list[str] = []
    end = opened.end()
    while end < len(text):
        token = _IN_SYMBOL.match(text, end)
        if token is None or token[1] is not None:
            allowed = repr(closers[-1]) if closers else "', ' or a closing bracket"
            raise Fault(end, allowed)
        part = token[0]
        if not closers and (part == ", " or part in _CLOSING):
            break
        _follow_brackets(part, closers, end)
        end = token.end()
    if closers:
        raise Fault(end, repr(closers[-1]))
    return Symbol(text[at:end]), end


def _follow_brackets(part: str, closers: list[str], at: int) -> None:
    """Adds the closer of an opened bracket to ``closers``, or takes that of a closed one off."""
    if part in CLOSERS:
        closers.append(CLOSERS[part])
    elif part in _CLOSING and part != closers.pop():
        raise Fault(at, "the bracket that was opened last to be closed first")


_KEYWORD = re.compile(r"KeywordArg\[key : (.*?), value : ")
_KEY = re.compile(r"([^\s:,(){}\[\]\"][^:,(){}\[\]\"\n]*): ")
_FLAG = re.compile(r"([^\s:,(){}\[\]\"][^:,(){}\[\]\"\n]*)(?=, |\})")
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
        key = _FLAG.match(text, at) or _KEY.match(text, at)
        if key is None:
            raise Fault(at, "the name of an attribute and ': '")
        if key[1] in attributes:
            raise Fault(at, "an attribute that has not been given yet")
        at = key.end()
        string = _QUICK_STRING.match(text, at)
        if key.re is _FLAG:
            attributes[key[1]] = Symbol("")
        elif string is not None:
            attributes[key[1]], at = StringValue(string[1]), string.end()
        else:
            attributes[key[1]], at = scope.quick(text, at) or read_value(text, at, scope)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return attributes, at + 1
        else:
            raise Fault(at, "', ' or '}'")
