"""Reads operands and attribute values: references, numbers, strings, tensors, and tuples, lists and
dictionaries of them.
"""

import re

from explorer.engines.mindspore.ir.lexer import Fault
from explorer.engines.mindspore.ir.records import (
    GraphRef,
    Items,
    Keyword,
    NodeRef,
    OuterRef,
    ParameterRef,
    Scalar,
    Symbol,
    Table,
    TensorValue,
    Text,
    Value,
)

GRAPH = r"[^\s(),:\[\]{}]+"
_QUICK = re.compile(  # the operands that make up nearly all of a file; each is known whole by its text
    rf"(?:%\d+|[A-Z][A-Za-z]*\d*\(-?[\w.+-]+\)|%para\d+_[\w.▸◂↓↵✓✗↻ф]*|@{GRAPH}|None|UMonad\[U\]|\$\(@{GRAPH}:\w+\))(?=, |[)}}])"
)
_QUICK_TEXT = re.compile(r'"([^"\n]*)"(?=, |\})')
_SCALAR = re.compile(r"([A-Z][A-Za-z]*\d*)\((-?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan))\)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?=[,)\]}]|$)")
_TENSOR = re.compile(r"Tensor\(shape=\[((?:-?\d+(?:, -?\d+)*)?)\], dtype=(\w+), value=")
_OUTER = re.compile(rf"\$\(@({GRAPH}):")
_KEYWORD = re.compile(r"KeywordArg\[key : (.*?), value : ")
_END_OF_TEXT = re.compile(r'"(?=, |[)\]}]|: |$)')
_KEY = re.compile(r"([^\s:(){}\[\]\"]+(?: name)?): ")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_SYMBOL = re.compile(r"[^\s\"'%$(){}\[\],][^\"'(){}\[\],\n]*|(?=\[)")
_INNER = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[(\[{]|[)\]}]|, |[^\"'(){}\[\],\n]+|,|(.)", re.DOTALL)
_FLOATS = re.compile(r"[.ein]")
_PARENTHESIS = re.compile(r"[()]")
_LABEL = re.compile(r"(para\d+)_[^\s(),:]*")
_UNNUMBERED = re.compile(r"para_[^\s(),:]+")
_BEHIND_LABEL = {"", ",", ")", "]", "}", "[", "("}
_INDEX = re.compile(r"\d+")
_NAME_OF_GRAPH = re.compile(GRAPH)


class Scope:
    """What operands may name: the labels of all parameters, and how many nodes the subgraph has so
    far.
    """

    def __init__(self, labels: list[str]) -> None:
        self._by_number: dict[str, list[str]] = {}
        for label in sorted(
            set(labels), key=lambda label: (-len(label), label)
        ):  # the longest that fits is the one meant
            self._by_number.setdefault(label.partition("_")[0], []).append(label)
        self._known: dict[str, Value] = {}
        self.nodes = 0

    def quick(self, text: str, at: int) -> tuple[Value, int] | None:
        """A plain operand at an offset, None where it takes more to read."""
        match = _QUICK.match(text, at)
        if match is None:
            return None
        token = match[0]
        value = self._known.get(token)
        if value is None:
            try:
                value, end = read_leaf(token, 0, self)
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
        """The label of the parameter that stands at an offset (after "%") and the offset behind it;
        None where there is none.
        """
        number = _LABEL.match(text, at)
        labels = self._by_number.get(number[1], []) if number else []
        for label in labels:
            end = at + len(label)
            if text.startswith(label, at) and text[end : end + 1] in _BEHIND_LABEL:
                return label, end
        if (
            number is not None and len(labels) == 1
        ):  # some stages print one parameter under two names: the number counts
            return labels[0], number.end()
        unnumbered = _UNNUMBERED.match(
            text, at
        )  # so do the files of failed compilations, without declaring it
        return (unnumbered[0], unnumbered.end()) if unnumbered else None


def _read_string(text: str, at: int) -> tuple[Value, int]:
    """A string; quotes inside are not escaped, so it ends at the first quote that a separator or a
    bracket follows.
    """
    end = _END_OF_TEXT.search(text, at + 1)
    if end is None:
        raise Fault(len(text), "'\"' at the end of the string")
    return Text(text[at + 1 : end.start()]), end.end()


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
    label = scope.label(text, opened.end())
    end = label[1] if label else text.find(")", opened.end())
    if end < 0 or text[end : end + 1] != ")":
        raise Fault(len(text) if end < 0 else end, "')' after the name")
    return (
        ParameterRef(label[0], opened[1])
        if label
        else OuterRef(opened[1], text[opened.end() : end])
    ), end + 1


def _read_tensor(text: str, opened: "re.Match[str]") -> tuple[Value, int]:
    depth = 1
    for mark in _PARENTHESIS.finditer(
        text, opened.end()
    ):  # complex numbers are printed in parentheses
        depth += 1 if mark[0] == "(" else -1
        if not depth:
            shape = tuple(map(int, opened[1].split(", "))) if opened[1] else ()
            return TensorValue(shape, opened[2], text[opened.end() : mark.start()]), mark.end()
    raise Fault(len(text), "')' after the tensor's value")


def _read_symbol(text: str, at: int) -> tuple[Value, int]:
    """A name, with whatever brackets it carries, up to the next separator outside them."""
    opened = _SYMBOL.match(text, at)
    if opened is None:
        raise Fault(at, "a value")
    closers: list[str] = []
    end = opened.end()
    while end < len(text):
        token = _INNER.match(text, end)
        if token is None or token[1] is not None:
            raise Fault(end, f"{closers[-1]!r}" if closers else "', ' or a closing bracket")
        part = token[0]
        if part in _CLOSERS:
            closers.append(_CLOSERS[part])
        elif part in {")", "]", "}"}:
            if not closers:
                break
            if part != closers.pop():
                raise Fault(end, "the bracket that was opened last to be closed first")
        elif part == ", " and not closers:
            break
        end = token.end()
    if closers:
        raise Fault(end, f"{closers[-1]!r}")
    return Symbol(text[at:end]), end


def number(text: str) -> int | float:
    """A printed number."""
    return float(text) if _FLOATS.search(text) else int(text)


def read_leaf(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    """The value at an offset that is no tuple, list, dictionary or keyword, and the offset behind
    it.
    """
    first = text[at : at + 1]
    if first == '"':
        return _read_string(text, at)
    if first == "%":
        return _read_percent(text, at, scope)
    if first == "$":
        return _read_outer(text, at, scope)
    if first == "@":
        graph = _NAME_OF_GRAPH.match(text, at + 1)
        if graph is None:
            raise Fault(at + 1, "the name of a subgraph")
        return GraphRef(graph[0]), graph.end()
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


class _Frame:
    """A bracket that has been opened and the values read in it so far."""

    def __init__(self, closer: str, key: str = "") -> None:
        self.closer, self.key = closer, key
        self.keys: list[Value] = []
        self.values: list[Value] = []

    def close(self) -> Value:
        if self.key:
            return Keyword(self.key, self.values[0])
        if self.closer == "}":
            return Table(tuple(self.keys), tuple(self.values))
        return Items("tuple" if self.closer == ")" else "list", tuple(self.values))


def read_value(text: str, at: int, scope: Scope) -> tuple[Value, int]:
    """The value at an offset, however deep it nests, and the offset behind it."""
    frames: list[_Frame] = []
    while True:
        done: Value | None = None
        closer = _CLOSERS.get(text[at : at + 1])
        keyword = _KEYWORD.match(text, at)
        if keyword is not None:
            frames.append(_Frame("]", keyword[1]))
            at = keyword.end()
        elif closer is not None and not text.startswith(
            "[Key]", at
        ):  # "[Key][Parameter]fc.weight" is the name of a key
            at += 1
            if text.startswith(closer, at):
                done, at = _Frame(closer).close(), at + 1
            else:
                frames.append(_Frame(closer))
        else:
            done, at = read_leaf(text, at, scope)
        while done is not None:
            if not frames:
                return done, at
            frame = frames[-1]
            if frame.closer == "}" and len(frame.keys) == len(frame.values):
                if not text.startswith(": ", at):
                    raise Fault(at, "': ' and the value of a dictionary's key")
                frame.keys.append(done)
                done, at = None, at + 2
                continue
            frame.values.append(done)
            if text.startswith(frame.closer, at):
                done, at = frames.pop().close(), at + 1
            elif text.startswith(", ", at) and not frame.key:
                done, at = None, at + 2
            else:
                raise Fault(at, f"{frame.closer!r}" if frame.key else f"', ' or {frame.closer!r}")


def read_operands(text: str, at: int, scope: Scope) -> tuple[tuple[Value, ...], int]:
    """The operands from behind "(" to behind ")"."""
    if text.startswith(")", at):
        return (), at + 1
    found: list[Value] = []
    while True:
        quick = scope.quick(text, at)
        value, at = read_value(text, at, scope) if quick is None else quick
        found.append(value)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith(")", at):
            return tuple(found), at + 1
        else:
            raise Fault(at, "', ' or ')'")


def read_attributes(text: str, at: int, scope: Scope) -> tuple[dict[str, Value], int]:
    """The attributes from behind "{" to behind "}"."""
    found: dict[str, Value] = {}
    while True:
        key = _KEY.match(text, at)
        if key is None:
            raise Fault(at, "the name of an attribute and ': '")
        if key[1] in found:
            raise Fault(at, "an attribute that has not been given yet")
        at = key.end()
        string = _QUICK_TEXT.match(text, at)
        if string is not None:
            found[key[1]], at = Text(string[1]), string.end()
        else:
            quick = scope.quick(text, at)
            found[key[1]], at = read_value(text, at, scope) if quick is None else quick
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return found, at + 1
        else:
            raise Fault(at, "', ' or '}'")
