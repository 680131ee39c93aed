"""MindSpore's IR text (2.10.0) as statements: what a pass wrote, line by line, without meaning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEAD = re.compile(r"^  (?:(%\d+)\((.*?)\) = )?(\S.*)$", re.S)
GRAPH = re.compile(r"^subgraph @(\S+?)(?: parent: \[.*?\])?\((.*)\) *\{$")
PARAMETER = re.compile(r"^(%para\d+_\S+?): <(.*)> *:")
SOURCE = re.compile(r"# In file (.+?):(\d+)(?:~\d+)?, \d+~\d+/(.*)")
SCOPE = re.compile(r"# Fullname with scope: \((.*)\)$")
IDENTITY = re.compile(r'\b(forward_unique_id|forward_node_name|unique_id): "([^"]*)"')
DTYPE = re.compile(r"\b(?:Ref\[)?Tensor\[(\w+)\]\]?(?:\*(\d+))?")
SHAPE = re.compile(r"(?<![A-Za-z])\(((?:-?\d+(?:, )?)*)\)")
PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass
class Statement:
    """One node as the text has it: where its result goes, its operator or callee, and its operands as text."""

    result: str
    op: str
    graph: str
    operands: list[str]
    called: tuple[str, ...] = ()
    outputs: tuple[tuple[tuple[int, ...], str], ...] = ()
    elements: tuple[str, ...] | None = None
    scope: str = ""
    lines: list[tuple[str, int]] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)


@dataclass
class Program:
    """One pass: its entry graph, the parameters of the whole (text → type), and every graph's own parameters and statements."""

    entry: str
    parameters: dict[str, str]
    graphs: dict[str, list[Statement]]
    own: dict[str, list[str]]


def read(path: Path) -> Program:
    """The program in an IR file."""
    program = Program("", {}, {}, {})
    graph: list[Statement] | None = None
    pending: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if graph is None:
            graph = _outside(line, program)
        elif line == "}":
            graph = None
        elif line.startswith("      : ("):
            if pending:
                graph.append(_statement("\n".join(pending), next(reversed(program.graphs))))
                _typed(graph[-1], line)
            pending = []
        elif line.startswith("      #"):
            _noted(graph[-1], line.strip())
        elif not line.startswith("#"):
            pending.append(line)
    return program


def _outside(line: str, program: Program) -> list[Statement] | None:
    if line.startswith("# IR entry: @"):
        program.entry = line.removeprefix("# IR entry: @").strip()
    elif found := PARAMETER.match(line):
        program.parameters[found[1]] = found[2]
    elif found := GRAPH.match(line):
        program.own[found[1]] = [name for name in split(found[2]) if name]
        return program.graphs.setdefault(found[1], [])
    return None


def _statement(text: str, graph: str) -> Statement:
    found = HEAD.match(text)
    assert found, text
    result, body = found[1] or "", found[3]
    called: tuple[str, ...] = ()
    if body.startswith("call @"):
        called, body = (body[6 : body.index("(")],), body[body.index("(") :]
        op = "call"
    elif re.match(r"[^\s(]+\[@", body):
        end = _close(body, body.index("["))
        callee = body[: body.index("[")]
        called = tuple(re.findall(r"@+([^@\s,()\]]+)", body[body.index("[") : end].replace("FuncUnion(", "")))
        body = body[end + 1 :]
        return Statement(result, "call", graph, [callee, *split(body[1 : _close(body, 0)])], called)
    else:
        op, body = body[: body.index("(")], body[body.index("(") :]
    identity = dict(IDENTITY.findall(body))
    return Statement(result, op.removeprefix("PrimFunc_"), graph, split(body[1 : _close(body, 0)]), called, identity=identity)


def _typed(statement: Statement, line: str) -> None:
    _, arrow, made = line.rpartition(") -> (")
    if arrow:
        statement.outputs = tuple(tensors(made))
        statement.elements = _elements(made)


def _noted(statement: Statement, line: str) -> None:
    if found := SCOPE.match(line):
        statement.scope = found[1]
    elif (found := SOURCE.match(line)) and not found[3].lstrip().startswith(("def ", "class ", "@")):
        place = (found[1], int(found[2]))
        if place not in statement.lines:
            statement.lines.append(place)


def _elements(text: str) -> tuple[str, ...] | None:
    """What the places of a tuple type hold ("Tensor[Float32]", "Int64", "Func"); None for a type that is no tuple."""
    if not text.startswith("<Tuple["):
        return None
    inner = text[len("<Tuple[") : _close(text, len("<Tuple"))]
    counted = (re.fullmatch(r"(.*?)(?:\*(\d+))?", part) for part in split(inner))
    return tuple(found[1] for found in counted if found for _ in range(int(found[2] or 1)))


def tensors(text: str) -> Iterator[tuple[tuple[int, ...], str]]:
    """Shapes and dtypes of the tensors in a type, in order."""
    dtypes = [name.lower() for name, times in DTYPE.findall(text) for _ in range(int(times or 1))]
    _, _, rest = text.partition("], ")
    shapes = SHAPE.findall(rest.replace("TupleShape(", ""))
    for dtype, shape in zip(dtypes, shapes, strict=False):
        yield tuple(int(size) for size in shape.split(", ") if size), dtype


def split(text: str) -> list[str]:
    """The top-level, comma-separated parts of an operand list."""
    parts, start, place = [], 0, 0
    while place < len(text):
        character = text[place]
        if character in PAIRS:
            place = _close(text, place)
        elif character == '"':
            place = text.index('"', place + 1)
        elif character == ",":
            parts.append(text[start:place].strip())
            start = place + 1
        place += 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _close(text: str, start: int) -> int:
    """Where the bracket at ``start`` closes."""
    waiting: list[str] = []
    for place in range(start, len(text)):
        character = text[place]
        if character in "([{":
            waiting.append(PAIRS[character])
        elif waiting and character == waiting[-1]:
            waiting.pop()
            if not waiting:
                return place
    return len(text) - 1
