"""What XLA makes of a program: the text of its compiled module, read as records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Shape = tuple[str, tuple[int, ...]]
"""A dtype as XLA writes it, "f32", and the lengths of the axes."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its result, what it does, and what it reads.

    ``shapes`` are those of its result, in order where it is a tuple. ``operands`` are the names of the
    instructions that it reads, ``text`` is what stands in their place in a constant or a parameter.
    ``calls`` are the names of the computations that it runs; ``op_name`` is JAX's stack of names,
    ``file`` and ``line`` are those of the net.
    """

    name: str
    op: str
    shapes: tuple[Shape, ...]
    operands: tuple[str, ...]
    text: str
    attributes: dict[str, str]
    calls: tuple[str, ...]
    op_name: str = ""
    file: str = ""
    line: int = 0
    is_root: bool = False


@dataclass
class Module:
    """The computations of a module, by name; ``entry`` is the name of the one that is run."""

    entry: str = ""
    computations: dict[str, list[Instruction]] = field(default_factory=dict)


HEADER = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\) -> .* \{$")
INSTRUCTION = re.compile(r"^\s+(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = (?P<rest>.*)$")
OPERATION = re.compile(r"^ ?(?P<op>[\w\-]+)\(")
SHAPE = re.compile(r"(?P<dtype>\w+)\[(?P<axes>[\d,]*)\]")
COMMENT = re.compile(r"/\*.*?\*/")
OPERAND = re.compile(r"%([\w.\-]+)")
QUOTED = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
NUMBER = re.compile(r"source_line=(\d+)")

CALLING = ("calls", "to_apply", "condition", "body", "branch_computations")
"""The attributes that name computations."""

UNSAID = frozenset({"metadata", "frontend_attributes", "backend_config", "sharding", *CALLING})
"""The attributes that say nothing of what an instruction computes."""


def read_module(text: str) -> Module:
    """The module that ``jax.stages.Compiled.as_text`` gives (jax 0.6.2)."""
    module = Module()
    instructions: list[Instruction] = []
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            instructions = module.computations.setdefault(header["name"], [])
            if header["entry"]:
                module.entry = header["name"]
            continue
        found = INSTRUCTION.match(line)
        if found:
            instructions.append(_instruction(found["name"], found["rest"], bool(found["root"])))
    return module


def _instruction(name: str, text: str, is_root: bool) -> Instruction:
    """An instruction from what stands behind its name: the type, the operation, and its attributes."""
    text = COMMENT.sub("", text)
    type_, text = _type(text)
    operation = OPERATION.match(text)
    op = operation["op"] if operation else ""
    inside, text = _closed(text[operation.end() - 1 if operation else 0 :])
    attributes = dict(_attributes(text.removeprefix(",")))
    metadata = attributes.get("metadata", "")
    quoted = {it: _unescaped(value) for it, value in QUOTED.findall(metadata)}
    number = NUMBER.search(metadata)
    called = " ".join(attributes.get(it, "") for it in CALLING)
    return Instruction(
        name=name,
        op=op,
        shapes=tuple(_shapes(type_)),
        operands=tuple(OPERAND.findall(inside)),
        text=inside[1:-1],
        attributes={it: value for it, value in attributes.items() if it not in UNSAID},
        calls=tuple(OPERAND.findall(called)),
        op_name=quoted.get("op_name", ""),
        file=quoted.get("source_file", ""),
        line=int(number[1]) if number else 0,
        is_root=is_root,
    )


def _unescaped(text: str) -> str:
    """A text whose bytes beyond ASCII are written as octal numbers, as in C."""
    return text.encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")


def _type(text: str) -> tuple[str, str]:
    """The type at the beginning of a text, and the text behind it."""
    if text.startswith("("):
        return _closed(text)
    type_, _, rest = text.partition(" ")
    return type_, rest


def _shapes(type_: str) -> Iterator[Shape]:
    for found in SHAPE.finditer(type_):
        axes = found["axes"]
        yield found["dtype"], tuple(map(int, axes.split(","))) if axes else ()


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    """The attributes of an instruction: "dimensions={0,1}", "kind=kLoop"."""
    for part in _parts(text):
        name, equals, value = part.strip().partition("=")
        if equals:
            yield name, value


OPENING, CLOSING = "([{", ")]}"


def _closed(text: str) -> tuple[str, str]:
    """A text up to the bracket that closes its first one, and the rest."""
    depth = 0
    for place, character in _outside_quotes(text):
        depth += (character in OPENING) - (character in CLOSING)
        if depth == 0:
            return text[: place + 1], text[place + 1 :]
    return text, ""


def _parts(text: str) -> Iterator[str]:
    """A text cut at its commas, but not inside of brackets or quotes."""
    depth, start = 0, 0
    for place, character in _outside_quotes(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _outside_quotes(text: str) -> Iterator[tuple[int, str]]:
    """The characters of a text that stand in no quotes, with their places."""
    is_quoted = is_escaped = False
    for place, character in enumerate(text):
        if character == '"' and not is_escaped:
            is_quoted = not is_quoted
        elif not is_quoted:
            yield place, character
        is_escaped = character == "\\" and not is_escaped
