"""Reads types, shapes and signatures such as ``(<Tensor[Float32], (3)>) -> (<Bool, NoShape>)``."""

import re
from typing import Literal

from explorer.engines.mindspore.ir.lines import Fault, is_balanced
from explorer.engines.mindspore.ir.records import Abstract, SequenceShape, Shape, TensorShape, Type

Signature = tuple[tuple[Abstract, ...], Abstract | None]
"""The types of a node's operands, and that of its result (None under a Return)."""

MOST_REPEATS = 1_000_000
"""The most elements of a tuple that are spelled out: a mistyped count must not fill the memory."""

_NAME = re.compile(r"[A-Za-z_][\w:]*(?:\(\w+\))?|Dynamic (?:Tuple|List)")
_OPEN = re.compile(
    r"(?P<dictionary>Dictionary)\[\[(?:(?P<keys>(?!\])(?s:.*?)),)?\],\["
    r"|(?P<keyword>Keyword)\[key : (?P<key>.*?), value : "
    r"|(?P<dynamic>Dynamic (?:Tuple|List))\[element: "
    r"|(?P<any>[A-Za-z_][\w:]*(?:\(\w+\))?)\["
)
_REPEAT = re.compile(r"\*(\d+)")
_SIZES = re.compile(r"\((-?\d+(?:, -?\d+)*)?\)")
_OPEN_SHAPE = re.compile(r"(Tuple|List)Shape\(")
_PLAIN_SHAPES: dict[str, Shape] = {
    "NoShape": None,
    "DynamicSequenceShape": SequenceShape("Dynamic"),
}
_PLAIN_SHAPE = re.compile("|".join(_PLAIN_SHAPES))
_MARK = r", (?!ref_key=)[A-Za-z_]\w*(?:=(?:\{[^<>]*\}|\[[^<>]*\]|\([^<>]*\)|[^,<>(){}\[\]]*))?"
_TAIL = re.compile(
    rf"(?P<before>(?:{_MARK})*)(?:, ref_key=(?P<ref>.*?))?(?P<marks>(?:{_MARK})*)$", re.DOTALL
)
_DEPTH = re.compile(r"[(\[{]|[)\]}]|, ")
_UNKNOWN_TYPE = re.compile(r"[A-Za-z_](?:(?! \().)*", re.DOTALL)
_USE_FLAGS = "elements_use_flags="
_KNOWN_MARKS = frozenset({"is_parameter", "is_inplace", "value=..."})

_SHAPE_FORMS = (
    "a shape: sizes in parentheses, TupleShape(…), ListShape(…), NoShape or DynamicSequenceShape"
)
_TAIL_FORMS = "', ref_key=…', marks such as ', is_parameter', or '>'"

# Types


class _OpenType:
    """A type whose bracket has been opened, and its arguments so far.

    ``keys`` are the names of a Dictionary's or Keyword's values.
    """

    __slots__ = ("args", "end", "keys", "name", "separator")

    def __init__(self, name: str, keys: tuple[str, ...]) -> None:
        self.name, self.keys = name, keys
        self.args: list[Type] = []
        self.end = "]]" if name == "Dictionary" else "]"
        self.separator = " : " if name == "Slice" else ","

    def close(self, at: int) -> Type:
        """The whole type, whose bracket is closed at an offset."""
        if (self.keys or self.name == "Dictionary") and len(self.keys) != len(self.args):
            allowed = f"as many types as {self.name} has names, {len(self.keys)}"
            raise Fault(at, allowed, f"{len(self.args)} types")
        return Type(self.name, tuple(self.args), self.keys)


def read_type(text: str, at: int) -> tuple[Type, int]:
    """The type at an offset, however deep it nests, and the offset behind it."""
    open_types: list[_OpenType] = []
    while True:
        opened = _OPEN.match(text, at)
        if opened is None:
            kind, at = _read_plain_type(text, at)
        else:
            open_types.append(_opened(opened))
            at = opened.end()
            if not text.startswith(open_types[-1].end, at):
                continue
            kind, at = _close(open_types, at)

        # A finished type is an argument of the one around it, which may be finished with it.
        while open_types:
            outer = open_types[-1]
            at = _add_argument(outer, kind, text, at)
            if text.startswith(outer.end, at):
                kind, at = _close(open_types, at)
            elif text.startswith(outer.separator, at):
                at += len(outer.separator)
                break
            else:
                raise Fault(at, f"{outer.separator!r} or {outer.end!r} in the type {outer.name}")
        else:
            return kind, at


def _read_plain_type(text: str, at: int) -> tuple[Type, int]:
    plain = _NAME.match(text, at)
    if plain is None:
        raise Fault(at, "a type")
    return Type(plain[0]), plain.end()


def _opened(match: re.Match[str]) -> _OpenType:
    if match["dictionary"]:
        keys = match["keys"]
        return _OpenType("Dictionary", () if keys is None else tuple(keys.split(",")))
    if match["keyword"]:
        return _OpenType("Keyword", (match["key"],))
    return _OpenType(match["dynamic"] or match["any"], ())


def _close(open_types: list[_OpenType], at: int) -> tuple[Type, int]:
    inner = open_types.pop()
    return inner.close(at), at + len(inner.end)


def _add_argument(outer: _OpenType, kind: Type, text: str, at: int) -> int:
    """Adds an argument as often as what follows it says ("*3"); the offset behind that."""
    repeat = _REPEAT.match(text, at)
    if repeat is None:
        outer.args.append(kind)
        return at
    count = int(repeat[1])
    if count + len(outer.args) > MOST_REPEATS:
        raise Fault(at, f"a repeat of at most {MOST_REPEATS}", repr(text[at:]))
    outer.args += [kind] * count
    return repeat.end()


# Shapes


class _OpenShape:
    """The shape of a tuple or list whose parenthesis has been opened, and its items so far."""

    __slots__ = ("items", "kind")

    def __init__(self, kind: str) -> None:
        self.kind: Literal["Tuple", "List"] = "Tuple" if kind == "Tuple" else "List"
        self.items: list[Shape] = []

    def close(self) -> Shape:
        """The whole shape."""
        return SequenceShape(self.kind, tuple(self.items))


def read_shape(text: str, at: int) -> tuple[Shape, int]:
    """The shape at an offset, however deep it nests, and the offset behind it."""
    open_shapes: list[_OpenShape] = []
    while True:
        # Most shapes are plain sizes: a parenthesis spares them a search.
        opened = None if text.startswith("(", at) else _OPEN_SHAPE.match(text, at)
        if opened is None:
            shape, at = _read_plain_shape(text, at)
        else:
            open_shapes.append(_OpenShape(opened[1]))
            at = opened.end()
            if not text.startswith(")", at):
                continue
            shape, at = open_shapes.pop().close(), at + 1

        while open_shapes:
            outer = open_shapes[-1]
            outer.items.append(shape)
            if text.startswith(", ", at):
                at += 2
                break
            if not text.startswith(")", at):
                raise Fault(at, f"', ' or ')' in {outer.kind}Shape")
            shape, at = open_shapes.pop().close(), at + 1
        else:
            return shape, at


def _read_plain_shape(text: str, at: int) -> tuple[Shape, int]:
    sizes = _SIZES.match(text, at)
    if sizes is not None:
        numbers = sizes[1].split(", ") if sizes[1] else ()
        return TensorShape(tuple(map(int, numbers))), sizes.end()
    plain = _PLAIN_SHAPE.match(text, at)
    if plain is None:
        raise Fault(at, _SHAPE_FORMS)
    return _PLAIN_SHAPES[plain[0]], plain.end()


# Whole signatures


class TypeReader:
    """Reads signatures and remembers them, since a file repeats few of them many times."""

    def __init__(self) -> None:
        self._abstracts: dict[str, Abstract] = {}
        self._signatures: dict[str, Signature] = {}

    def abstract(self, text: str) -> Abstract:
        """The record of the text between "<" and ">"."""
        known = self._abstracts.get(text)
        if known is None:
            known = self._abstracts[text] = _read_abstract(text)
        return known

    def abstracts(self, text: str, at: int = 0) -> tuple[Abstract, ...]:
        """``<…>, <…>`` or nothing; ``at`` is where it begins in the text that faults are about."""
        if not text:
            return ()
        if text[0] != "<":
            raise Fault(at, "'<'")
        if text[-1] != ">":
            raise Fault(at + len(text), "'>'")
        abstracts = []
        at += 1
        for part in text[1:-1].split(">, <"):
            try:
                abstracts.append(self.abstract(part))
            except Fault as fault:
                raise fault.moved(at) from None
            at += len(part) + len(">, <")
        return tuple(abstracts)

    def signature(self, text: str) -> Signature:
        """``(<…>, <…>) -> (<…>)``, or ``(<…>)`` as under a Return."""
        known = self._signatures.get(text)
        if known is None:
            known = self._signatures[text] = self._read_signature(text)
        return known

    def _read_signature(self, text: str) -> Signature:
        inputs, arrow, output = text.partition(") -> (")
        if not inputs.startswith("("):
            raise Fault(0, "'('")
        if text[-1] != ")" or text == "(":
            raise Fault(len(text), "')'")
        if not arrow:
            return self.abstracts(inputs[1:-1], 1), None
        first = self.abstracts(inputs[1:], 1)
        behind = len(inputs) + len(arrow)
        outputs = self.abstracts(output[:-1], behind)
        if len(outputs) != 1:
            raise Fault(behind, "one type of the output", f"{len(outputs)} types")
        return first, outputs[0]


def _read_abstract(text: str) -> Abstract:
    kind, at = _known_type(text)
    if at == len(text):
        return Abstract(kind)
    if not text.startswith(", ", at):
        raise Fault(at, "', ' and a shape, or '>'")
    try:
        shape, at = read_shape(text, at + 2)
    except Fault:
        if not is_balanced(text):
            raise
        return Abstract(kind, marks=(text[at + 2 :],))
    tail = _TAIL.match(text, at)
    if tail is None:
        # A mark of another form is carried along, but a bracket too many is damage.
        if not text.startswith(", ", at) or not is_balanced(text):
            raise Fault(at, _TAIL_FORMS)
        return Abstract(kind, shape, marks=(text[at + 2 :],))
    marks = _separated(tail["before"] + tail["marks"])
    unknown = tuple(filter(_is_unknown, marks))
    return Abstract(
        type=kind,
        shape=shape,
        ref_key=tail["ref"],
        is_parameter="is_parameter" in marks,
        is_inplace="is_inplace" in marks,
        known="value=..." in marks,
        marks=unknown,
    )


def _is_unknown(mark: str) -> bool:
    return mark not in _KNOWN_MARKS and not mark.startswith(_USE_FLAGS)


def _known_type(text: str) -> tuple[Type, int]:
    """The type at the start of a text, and the offset behind it.

    A type of a form that this reader does not know is taken as its name: all up to the shape.
    """
    end = _end_of_type(text)
    is_unknown = is_balanced(text) and _UNKNOWN_TYPE.fullmatch(text, 0, end) is not None
    try:
        kind, at = read_type(text, 0)
    except Fault as fault:
        # Bracket and count errors are damage.
        if fault.found or not is_unknown:
            raise
        return Type(text[:end]), end
    if at < end and is_unknown:
        return Type(text[:end]), end
    return kind, at


def _separated(marks: str) -> list[str]:
    """The marks of a text of ", mark, mark"."""
    separated = []
    while marks:
        end = 2 + _end_of_type(marks[2:])
        separated.append(marks[2:end])
        marks = marks[end:]
    return separated


def _end_of_type(text: str) -> int:
    """The offset of the first ", " outside of brackets, or the end of the text."""
    depth = 0
    for mark in _DEPTH.finditer(text):
        if mark[0] == ", ":
            if depth == 0:
                return mark.start()
        else:
            depth += 1 if mark[0] in "([{" else -1
    return len(text)
