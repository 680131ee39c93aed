"""Programs as text: a function with all that it reaches in its module, ready to be pasted."""

import ast
import io
import re
import symtable
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

REMARK = re.compile(r" *# (?:type: ignore|noqa).*$", re.MULTILINE)
"""A comment for the checkers of this project, of no use to a reader who pastes the code."""

OWN = "explorer"
"""The package whose imports come last."""

WIDTH = 100

BRACKETS: dict[type, tuple[str, str]] = {dict: ("{", "}"), list: ("[", "]"), tuple: ("(", ")")}

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Piece(msgspec.Struct, frozen=True):
    """A function, a class or a constant of a module.

    ``uses`` are all global names that its text refers to, in the order of the text; ``needs`` are
    those that must be defined before it, such as a base class.
    """

    text: str
    names: tuple[str, ...]
    uses: tuple[str, ...]
    needs: tuple[str, ...]
    is_constant: bool


class Imported(msgspec.Struct, frozen=True, order=True):
    """One imported name: ``member`` of ``module``, or the module itself where ``member`` is empty."""

    module: str
    member: str
    name: str


class Program(msgspec.Struct, frozen=True):
    """What a program imports, what it defines, and the statements that run it, as ``calls``."""

    imports: tuple[Imported, ...] = ()
    pieces: tuple[Piece, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole program, in an order in which Python can run it."""
        text = import_lines(self.imports)
        is_below_definition = False
        for piece in in_order(self.pieces):
            joint = "\n\n" if piece.is_constant and not is_below_definition else "\n\n\n"
            text += joint + piece.text
            is_below_definition = not piece.is_constant
        calls = "\n".join(self.calls)
        return f"{text}\n\n\n{calls}".strip("\n") + "\n"


def read(text: str) -> Program:
    """A program from its text; what is neither import nor definition is a call.

    Raises SyntaxError for what is not Python.
    """
    imports: list[Imported] = []
    pieces: list[Piece] = []
    calls: list[str] = []
    lines = text.splitlines()
    body = ast.parse(text).body
    for place, node in enumerate(body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.extend(_imported(node))
        elif isinstance(node, (*DEFINITIONS, ast.Assign, ast.AnnAssign)):
            following = body[place + 1] if place + 1 < len(body) else None
            pieces.append(_piece(node, following, lines))
        elif not _is_text(node):
            calls.append(_lines_of(node, node, lines))
    return Program(tuple(imports), tuple(pieces), tuple(calls))


def reached(module: Program, names: Iterable[str]) -> Program:
    """The part of a module that some of its functions reach, in the order of first use."""
    piece_of = {name: piece for piece in module.pieces for name in piece.names}
    pieces: dict[Piece, None] = {}  # an ordered set
    used: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        used.add(name)
        piece = piece_of.get(name)
        if piece is not None and piece not in pieces:
            pieces[piece] = None
            waiting.extend(piece.uses)
    imports = tuple(each for each in module.imports if each.name in used)
    return Program(imports, tuple(pieces))


def merged(programs: Sequence[Program]) -> Program:
    """Programs of one module as one: every import, definition and call once."""
    imports: dict[Imported, None] = {}
    pieces: dict[Piece, None] = {}
    calls: dict[str, None] = {}
    for program in programs:
        imports.update(dict.fromkeys(program.imports))
        pieces.update(dict.fromkeys(program.pieces))
        calls.update(dict.fromkeys(program.calls))
    return Program(tuple(imports), tuple(pieces), tuple(calls))


def in_order(pieces: Iterable[Piece]) -> list[Piece]:
    """Constants before functions and classes, and before each piece those that it needs."""
    given = sorted(pieces, key=lambda piece: not piece.is_constant)
    piece_of = {name: piece for piece in given for name in piece.names}
    ordered: dict[Piece, None] = {}

    def place(piece: Piece) -> None:
        for name in piece.needs:
            needed = piece_of.get(name)
            if needed is not None and needed is not piece and needed not in ordered:
                place(needed)
        ordered[piece] = None

    for piece in given:
        if piece not in ordered:
            place(piece)
    return list(ordered)


def import_lines(imports: Iterable[Imported]) -> str:
    """Import statements: of the standard library, of packages, of the explorer."""
    members: dict[tuple[int, bool, str], list[str]] = {}
    for each in sorted(set(imports), key=_place):
        known_as = each.member or each.module
        written = known_as if each.name == known_as else f"{known_as} as {each.name}"
        members.setdefault((_section(each.module), bool(each.member), each.module), []).append(
            written
        )
    sections: dict[int, list[str]] = {}
    for (section, is_from, module), names in sorted(members.items()):
        sections.setdefault(section, []).append(_statement(module if is_from else "", names))
    return "\n\n".join("\n".join(statements) for statements in sections.values())


def _statement(module: str, names: list[str]) -> str:
    if not module:
        return "\n".join(f"import {name}" for name in names)
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{inner})"


def _section(module: str) -> int:
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return 0
    return 2 if package == OWN else 1


def _place(imported: Imported) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff sorts them."""
    name = imported.member
    if name.isupper():
        return 0, name
    return (1 if name[:1].isupper() else 2), name


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Imported]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield Imported(node.module or "", alias.name, alias.asname or alias.name)
        else:
            yield Imported(alias.name, "", alias.asname or alias.name.partition(".")[0])


def _piece(node: ast.stmt, following: ast.stmt | None, lines: list[str]) -> Piece:
    is_constant = not isinstance(node, DEFINITIONS)
    # The text below a constant says what it is.
    has_text = is_constant and following is not None and _is_text(following)
    text = _lines_of(node, following if has_text and following else node, lines)
    return Piece(
        text=REMARK.sub("", text),
        names=tuple(_defined(node)),
        uses=tuple(_global_names(text)),
        needs=tuple(_needed(node)),
        is_constant=is_constant,
    )


def _lines_of(first: ast.stmt, last: ast.stmt, lines: list[str]) -> str:
    start = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
    # Comments right above belong to it.
    while start > 1 and lines[start - 2].startswith("#"):
        start -= 1
    return "\n".join(lines[start - 1 : last.end_lineno])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, DEFINITIONS):
        yield node.name
        return
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    for target in targets:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                yield name.id


def _global_names(text: str) -> list[str]:
    """The names that a text takes from its module, in the order of the text."""
    # The compiler's own table knows which names are local: an argument `loss` is not a function of
    # that name.
    found: set[str] = set()
    tree = ast.parse(text)
    inner = _names_of_comprehensions(tree)
    waiting = [symtable.symtable(text, "<program>", "exec")]
    while waiting:
        scope = waiting.pop()
        waiting.extend(scope.get_children())
        for symbol in scope.get_symbols():
            name = symbol.get_name()
            outermost = scope.get_type() == "module"
            if symbol.is_referenced() and (name not in inner if outermost else symbol.is_global()):
                found.add(name)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    return [name for name in dict.fromkeys(name.id for name in names) if name in found]


def _names_of_comprehensions(tree: ast.AST) -> set[str]:
    """The names that comprehensions bind.

    From Python 3.12 on the compiler's table has them beside those of the text around.
    """
    targets = [node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    names = (name for target in targets for name in ast.walk(target))
    return {name.id for name in names if isinstance(name, ast.Name)}


def _needed(node: ast.AST) -> Iterator[str]:
    """The names that are looked up when a statement is run, and not when its function is called."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for part in (*node.decorator_list, node.args, node.returns):
            if part is not None:
                yield from _needed(part)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _needed(child)


def literal(value: Any, indent: int = 0, beside: int = 0) -> str:
    """Plain data as Python has it, in double quotes, as ruff breaks it into lines.

    ``indent`` is that of its first line, and ``beside`` the number of characters that are on this
    line before and behind it.
    """
    line = _on_one_line(value)
    if indent + beside + len(line) <= WIDTH or not isinstance(value, (dict, list, tuple)):
        return line
    inner = indent + 4
    lines = []
    if isinstance(value, dict):
        for key, item in value.items():
            begin = f"{_on_one_line(key)}: "
            lines.append(begin + literal(item, inner, len(begin) + 1))
    else:
        lines = [literal(item, inner, 1) for item in value]
    begin, end = _brackets(value)
    text = "".join(f"{' ' * inner}{line},\n" for line in lines)
    return f"{begin}\n{text}{' ' * indent}{end}"


def _on_one_line(value: Any) -> str:
    if isinstance(value, str):
        return double_quoted(repr(value))
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_on_one_line(k)}: {_on_one_line(v)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, (list, tuple)):
        begin, end = _brackets(value)
        items = ", ".join(map(_on_one_line, value))
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{begin}{items}{comma}{end}"
    return repr(value)


def _brackets(value: Any) -> tuple[str, str]:
    """Those of the plain type that a value is, or is derived from: a named tuple is a tuple."""
    return next(pair for kind, pair in BRACKETS.items() if isinstance(value, kind))


def double_quoted(code: str) -> str:
    """Code with its strings in double quotes, where these need no backslash."""
    lines = code.splitlines(keepends=True)
    inside = 0  # of how many f-strings: from Python 3.12 on, what is in them is tokens too
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(code).readline))):
        kind = tokenize.tok_name[token.type]
        inside += {"FSTRING_END": 1, "FSTRING_START": -1}.get(kind, 0)
        text = token.string
        is_single = kind == "STRING" and text.startswith("'") and not text.startswith("'''")
        if is_single and not inside and '"' not in text and "\\" not in text:
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = f'{line[:start]}"{text[1:-1]}"{line[end:]}'
    return "".join(lines)
