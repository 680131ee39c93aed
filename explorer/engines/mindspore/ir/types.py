"""Reads what the IR says of values: types, shapes, and signatures such as ``(<Tensor[Float32],
(3)>) -> (<Bool, NoShape>)``.
"""

import re

from explorer.engines.mindspore.ir.lexer import Fault
from explorer.engines.mindspore.ir.records import Abstract, SequenceShape, Shape, TensorShape, Type

Signature = tuple[tuple[Abstract, ...], Abstract | None]

_NAME = re.compile(r"[A-Za-z_][\w:]*(?:\(\w+\))?|Dynamic (?:Tuple|List)")
_OPEN = re.compile(
    r"(?P<name>Dictionary)\[\[(?:(?P<keys>(?!\])(?s:.*?)),)?\],\["
    r"|(?P<keyword>Keyword)\[key : (?P<key>.*?), value : "
    r"|(?P<dynamic>Dynamic (?:Tuple|List))\[element: "
    r"|(?P<any>[A-Za-z_][\w:]*(?:\(\w+\))?)\["
)
_REPEAT = re.compile(r"\*(\d+)")
_MOST_REPEATS = 1_000_000  # what a tuple may hold when its elements are spelled out: a mistyped count must not fill the memory
_SIZES = re.compile(r"\((-?\d+(?:, -?\d+)*)?\)")
_OPEN_SHAPE = re.compile(r"(Tuple|List)Shape\(")
_PLAIN_SHAPE = re.compile(r"NoShape|DynamicSequenceShape")
_TAIL = re.compile(
    r"(?:, ref_key=(?P<ref>.*?))?(?P<parameter>, is_parameter)?(?P<inplace>, is_inplace)?(?P<known>, value=\.\.\.)?"
    r"(?:, elements_use_flags=(?P<flags>\{[\w\[\]{}:, -]*\}))?$",
    re.DOTALL,
)
_ENDS = {"Dictionary": "]]"}
_SEPARATORS = {"Slice": " : "}


def read_type(text: str, at: int) -> tuple[Type, int]:
    """The type at an offset and the offset behind it."""
    frames: list[tuple[str, tuple[str, ...], list[Type]]] = []
    while True:
        done, at = _start(text, at, frames)
        while done is not None:
            if not frames:
                return done, at
            name, _, args = frames[-1]
            repeat = _REPEAT.match(text, at)
            count = 1
            if repeat is not None:
                count, at = int(repeat[1]), repeat.end()
                if count + len(args) > _MOST_REPEATS:
                    raise Fault(repeat.start(), f"a repeat of at most {_MOST_REPEATS}")
            args += [done] * count
            separator, end = _SEPARATORS.get(name, ","), _ENDS.get(name, "]")
            if text.startswith(end, at):
                done, at = _finish(frames, text, at), at + len(end)
            elif text.startswith(separator, at):
                done, at = None, at + len(separator)
            else:
                raise Fault(at, f"{separator!r} or {end!r} in the type {name}")


def _start(
    text: str, at: int, frames: list[tuple[str, tuple[str, ...], list[Type]]]
) -> tuple[Type | None, int]:
    """Reads a name; opens a frame where the name has arguments, and returns the type where it has
    none.
    """
    opened = _OPEN.match(text, at)
    if opened is None:
        plain = _NAME.match(text, at)
        if plain is None:
            raise Fault(at, "a type")
        return Type(plain[0]), plain.end()
    name = opened["name"] or opened["keyword"] or opened["dynamic"] or opened["any"]
    keys = (
        tuple(opened["keys"].split(","))
        if opened["keys"] is not None
        else (opened["key"],)
        if opened["keyword"]
        else ()
    )
    frames.append((name, keys, []))
    end = _ENDS.get(name, "]")
    if text.startswith(end, opened.end()):
        return _finish(frames, text, opened.end()), opened.end() + len(end)
    return None, opened.end()


def _finish(frames: list[tuple[str, tuple[str, ...], list[Type]]], text: str, at: int) -> Type:
    name, keys, args = frames.pop()
    if (keys or name == "Dictionary") and len(keys) != len(args):
        raise Fault(at, f"as many types as {name} has names, {len(keys)}", f"{len(args)} types")
    return Type(name, tuple(args), keys)


def read_shape(text: str, at: int) -> tuple[Shape, int]:
    """The shape at an offset and the offset behind it."""
    frames: list[tuple[str, list[Shape]]] = []
    while True:
        sizes = _SIZES.match(text, at)
        done: Shape = None
        if sizes is not None:
            done, at = (
                TensorShape(tuple(map(int, sizes[1].split(", "))) if sizes[1] else ()),
                sizes.end(),
            )
        elif (plain := _PLAIN_SHAPE.match(text, at)) is not None:
            done, at = (
                SequenceShape("Dynamic") if plain[0] == "DynamicSequenceShape" else None,
                plain.end(),
            )
        elif (opened := _OPEN_SHAPE.match(text, at)) is not None:
            frames.append((opened[1], []))
            at = opened.end()
            if not text.startswith(")", at):
                continue
            done, at = SequenceShape("Tuple" if frames.pop()[0] == "Tuple" else "List"), at + 1
        else:
            raise Fault(
                at,
                "a shape: sizes in parentheses, TupleShape(…), ListShape(…), NoShape or DynamicSequenceShape",
            )
        while frames:
            kind, items = frames[-1]
            items.append(done)
            if text.startswith(", ", at):
                at += 2
                break
            if not text.startswith(")", at):
                raise Fault(at, f"', ' or ')' in {kind}Shape")
            frames.pop()
            done, at = SequenceShape("Tuple" if kind == "Tuple" else "List", tuple(items)), at + 1
        else:
            return done, at


class TypeReader:
    """Reads signatures and remembers them, since a file repeats few of them many times."""

    def __init__(self) -> None:
        self._abstracts: dict[str, Abstract] = {}
        self._signatures: dict[str, Signature] = {}

    def abstract(self, text: str) -> Abstract:
        """What stands between "<" and ">"."""
        known = self._abstracts.get(text)
        if known is None:
            known = self._abstracts[text] = _read_abstract(text)
        return known

    def abstracts(self, text: str, at: int = 0) -> tuple[Abstract, ...]:
        """``<…>, <…>`` or nothing."""
        if not text:
            return ()
        if text[0] != "<":
            raise Fault(at, "'<'")
        if text[-1] != ">":
            raise Fault(at + len(text), "'>'")
        found = []
        at += 1
        for part in text[1:-1].split(">, <"):
            try:
                found.append(self.abstract(part))
            except Fault as fault:
                raise fault.moved(at) from None
            at += len(part) + 4
        return tuple(found)

    def signature(self, text: str) -> Signature:
        """``(<…>, <…>) -> (<…>)``, or ``(<…>)`` as under a Return."""
        known = self._signatures.get(text)
        if known is not None:
            return known
        inputs, arrow, output = text.partition(") -> (")
        if not inputs.startswith("("):
            raise Fault(0, "'('")
        if text[-1] != ")" or text == "(":
            raise Fault(len(text), "')'")
        first = self.abstracts(inputs[1:] if arrow else inputs[1:-1], 1)
        outputs = self.abstracts(output[:-1], len(inputs) + len(arrow)) if arrow else ()
        if arrow and len(outputs) != 1:
            raise Fault(len(inputs) + len(arrow), "one type of the output", f"{len(outputs)} types")
        self._signatures[text] = found = (first, outputs[0] if outputs else None)
        return found


def _read_abstract(text: str) -> Abstract:
    kind, at = read_type(text, 0)
    if at == len(text):
        return Abstract(kind)
    if not text.startswith(", ", at):
        raise Fault(at, "', ' and a shape, or '>'")
    shape, at = read_shape(text, at + 2)
    tail = _TAIL.match(text, at)
    if tail is None:
        raise Fault(
            at,
            "', ref_key=…', ', is_parameter', ', is_inplace', ', value=...', ', elements_use_flags={…}' or '>'",
        )
    return Abstract(
        kind,
        shape,
        tail["ref"],
        tail["parameter"] is not None,
        tail["inplace"] is not None,
        tail["known"] is not None,
    )
