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

    def root(self, computation: str) -> Instruction:
        """The instruction whose result is that of a computation; it need not be the last."""
        return next(it for it in self.computations[computation] if it.is_root)


@dataclass
class Frames:
    """The lines of Python that a module numbers (0.7 and later): files, places in them, and frames."""

    files: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    frames: dict[str, tuple[str, int]] = field(default_factory=dict)

    def read(self, table: str, number: str, text: str) -> None:
        """Take a row of one of the tables at the beginning of a module."""
        facts = dict(FACT.findall(text))
        if table == "FileNames":
            self.files[number] = _unescaped(text.strip('"'))
        elif table == "FileLocations":
            file = self.files.get(facts.get("file_name_id", ""), "")
            self.places[number] = file, int(facts.get("line", 0))
        elif table == "StackFrames":
            self.frames[number] = self.places.get(facts.get("file_location_id", ""), ("", 0))


TABLE = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)$")
ROW = re.compile(r"^(?P<number>\d+) (?P<text>.+)$")
FACT = re.compile(r"(\w+)=(\d+)")
HEADER = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\) -> .* \{$")
INSTRUCTION = re.compile(r"^\s+(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = (?P<rest>.*)$")
OPERATION = re.compile(r"^ ?(?P<op>[\w\-]+)\(")
SHAPE = re.compile(r"(?P<dtype>\w+)\[(?P<axes>[\d,]*)\]")
COMMENT = re.compile(r"/\*.*?\*/")
OPERAND = re.compile(r"%([\w.\-]+)")
QUOTED = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
NUMBER = re.compile(r"source_line=(\d+)")
FRAME = re.compile(r"stack_frame_id=(\d+)")

CALLING = ("calls", "to_apply", "condition", "body", "branch_computations")
"""The attributes that name computations."""

UNSAID = frozenset({"metadata", "frontend_attributes", "backend_config", "sharding", *CALLING})
"""The attributes that say nothing of what an instruction computes."""


def read_module(text: str) -> Module:
    """The module that ``jax.stages.Compiled.as_text`` gives (jax 0.6.2 and 0.10.2)."""
    module, frames, table = Module(), Frames(), ""
    instructions: list[Instruction] = []
    for line in text.splitlines():
        begins = TABLE.match(line)
        row = ROW.match(line)
        if begins:
            table = begins[1]
        elif row and not module.computations:
            frames.read(table, row["number"], row["text"])
        header = HEADER.match(line)
        if header:
            instructions = module.computations.setdefault(header["name"], [])
            if header["entry"]:
                module.entry = header["name"]
            continue
        found = INSTRUCTION.match(line)
        if found:
            is_root = bool(found["root"])
            instructions.append(_instruction(found["name"], found["rest"], is_root, frames))
    return module


def _instruction(name: str, text: str, is_root: bool, frames: Frames) -> Instruction:
    """An instruction from what stands behind its name: the type, the operation, and its attributes."""
    text = COMMENT.sub("", text)
    type_, text = _type(text)
    operation = OPERATION.match(text)
    op = operation["op"] if operation else ""
    inside, text = _closed(text[operation.end() - 1 if operation else 0 :])
    attributes = dict(_attributes(text.removeprefix(",")))
    metadata = attributes.get("metadata", "")
    quoted = {it: _unescaped(value) for it, value in QUOTED.findall(metadata)}
    number, frame = NUMBER.search(metadata), FRAME.search(metadata)
    place = quoted.get("source_file", ""), int(number[1]) if number else 0
    if frame:
        place = frames.frames.get(frame[1], place)
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
        file=place[0],
        line=place[1],
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
