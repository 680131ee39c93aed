"""The programs of a claim: each function once, with the parties that ran it, ready to be pasted."""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator

import msgspec

from explorer.model.claim import Board, ClaimRow, Listing
from explorer.model.measurement import Measured
from explorer.text.language import ENGLISH, _, later
from explorer.text.language import code as language
from explorer.text.programs import (
    Imported,
    Piece,
    Program,
    double_quoted,
    import_lines,
    merged,
    read,
)
from explorer.topics.question import PARTIES
from explorer.words.parties import party_names

AS_PRINTED = later("adapted from the guide")
AS_MEANT = later("as meant")
WHAT_WAS_RUN = later("what was run")
WITH_GUIDES_CODE = later("what was run with the code above")

OF_GUIDE = (AS_PRINTED, AS_MEANT)
"""The titles of code that follows a guide's, or says what it means; what was run has the others."""


MODE = re.compile(r"^ms\.set_context\(mode=(ms\.\w+)\)\n", re.MULTILINE)
"""The line by which a script sets MindSpore's mode."""

EACH = "mode"
"""The variable of a loop over the modes."""


class ClaimProgram(msgspec.Struct, frozen=True):
    """A listing on the page of a claim.

    ``title`` is one of the four above; ``who`` names those that ran it. ``what``
    says what the functions do that were measured, where it is known.
    """

    title: str
    who: str
    code: str
    what: str = ""

    @property
    def heading(self) -> str:
        """The title with those that ran it: "as meant (MindSpore graph and tape)"."""
        title = _(self.title)
        if self.what:
            title = _("{what}: {values}").format(what=title, values=self.what)
        if not self.who:
            return title
        return _("{title} ({who})").format(title=title, who=self.who)


def programs(board: Board, row: ClaimRow) -> list[ClaimProgram]:
    """A claim's listings: what follows a guide's code, what it means, and the programs that ran them.

    No function is in two of them: pasted one after the other, in this order, they run.
    """
    shown: list[ClaimProgram] = []
    pieces: set[str] = set()
    for title, listings in ((AS_PRINTED, row.printed), (AS_MEANT, row.meant)):
        for listing in listings:
            code = _of_guide(listing, board.measured, pieces)
            shown.append(ClaimProgram(title, _who(listing.measured), code))
    scripts, rest = _scripts({name: board.measured[name] for name in row.measured})
    for names, code in scripts:
        shown.append(ClaimProgram(WHAT_WAS_RUN, _who(names), code))
    for names, program in _groups(rest):
        left = tuple(piece for piece in program.pieces if piece.text not in pieces)
        is_whole = len(left) == len(program.pieces)
        code = msgspec.structs.replace(program, pieces=left).text
        title = WHAT_WAS_RUN if is_whole else WITH_GUIDES_CODE
        shown.append(ClaimProgram(title, _who(names), code, _what(program)))
    return shown


def _what(program: Program) -> str:
    """What the functions do that a program calls, by their docstrings.

    Programs are in English: in another language the functions' names stand for it.
    """
    names: dict[str, None] = {}
    for call in program.calls:
        for node in ast.walk(ast.parse(call)):
            if isinstance(node, ast.Name):
                names[node.id] = None
    texts: list[str] = []
    for piece in program.pieces:
        if names.keys().isdisjoint(piece.names):
            continue
        (definition,) = ast.parse(piece.text).body
        if isinstance(definition, ast.FunctionDef):
            texts.append(_purpose(definition))
    if len(texts) < 2:
        return "".join(texts)
    return " ".join(f"({number}) {text}" for number, text in enumerate(texts, 1))


def _purpose(function: ast.FunctionDef) -> str:
    """The first sentence of a docstring without its full stop, else the function's name."""
    text = ast.get_docstring(function) or ""
    if language() != ENGLISH or not text:
        return function.name
    return text.partition("\n")[0].rstrip(".").replace("``", "`")


def _who(names: Iterable[str]) -> str:
    """The parties of measurements, by the ends of their names."""
    parties = dict.fromkeys(name.rpartition(".")[2] for name in names)
    return party_names(party for party in parties if party in PARTIES)


def _of_guide(listing: Listing, measured: dict[str, Measured], pieces: set[str]) -> str:
    """A guide's code below what it imports, without what ``pieces`` has; they grow by what is new."""
    program = _program(listing.code)
    if program is None:
        return listing.code
    imports: dict[Imported, None] = {}
    for name in listing.measured:
        whole = _program(measured[name].code)
        imports.update(dict.fromkeys(whole.imports if whole else ()))
    used = {name for piece in program.pieces for name in piece.uses}
    needed = tuple(each for each in imports if each.name in used)
    new = tuple(piece for piece in program.pieces if piece.text not in pieces)
    pieces.update(piece.text for piece in new)
    if len(new) < len(program.pieces):
        return Program(needed, new).text
    # With the comments between its functions.
    head = import_lines(needed)
    return f"{head}\n\n\n{listing.code}" if head else listing.code


def _program(code: str) -> Program | None:
    """A program by its text; None where it is not one of definitions, such as a script."""
    try:
        return read(code)
    except SyntaxError:
        return None


def _scripts(
    measured: dict[str, Measured],
) -> tuple[list[tuple[list[str], str]], dict[str, Measured]]:
    """Measurements of an engine's own code as scripts with their names, and all others.

    Scripts that differ in their last line alone are one script with all these lines, and those that
    differ in MindSpore's mode alone are one with a loop over the modes.
    """
    last_lines: dict[str, dict[str, list[str]]] = {}
    others: dict[str, Measured] = {}
    for name, outcome in measured.items():
        script = outcome.figures.get("code")
        if not isinstance(script, str):
            others[name] = outcome
            continue
        setup, _newline, last_line = script.rstrip("\n").rpartition("\n")
        last_lines.setdefault(setup, {}).setdefault(last_line, []).append(name)
    scripts = []
    for setup, names_by_line in last_lines.items():
        names = [name for its_names in names_by_line.values() for name in its_names]
        scripts.append((names, "\n".join((setup, *names_by_line)) + "\n"))
    return [(names, double_quoted(script)) for names, script in _modes_joined(scripts)], others


def _modes_joined(scripts: Iterable[tuple[list[str], str]]) -> list[tuple[list[str], str]]:
    """Scripts with their names; those that differ in MindSpore's mode alone are one."""
    names_by_mode: dict[tuple[str, str], dict[str, list[str]]] = {}
    for names, script in scripts:
        before, mode, after = _around_mode(script)
        names_by_mode.setdefault((before, after), {})[mode] = names
    joined = []
    for (before, after), modes in names_by_mode.items():
        names = [name for its_names in modes.values() for name in its_names]
        if len(modes) == 1:
            (mode,) = modes
            setting = f"ms.set_context(mode={mode})\n" if mode else ""
            joined.append((names, f"{before}{setting}{after}"))
        else:
            loop = f"for {EACH} in ({', '.join(modes)}):\n    ms.set_context(mode={EACH})\n"
            joined.append((names, before + loop + textwrap.indent(after, "    ")))
    return joined


def _around_mode(script: str) -> tuple[str, str, str]:
    """What comes before the line that sets MindSpore's mode, the mode, and what comes after.

    The mode is empty where no line sets it.
    """
    found = MODE.search(script)
    if found is None:
        return script, "", ""
    return script[: found.start()], found[1], script[found.end() :]


def _groups(measured: dict[str, Measured]) -> Iterator[tuple[list[str], Program]]:
    """Programs that share a function as one, with the names of their measurements."""
    groups: list[tuple[list[str], list[Program]]] = []
    for name, outcome in measured.items():
        program = _program(outcome.code)
        if program is None:
            continue
        names, members = [name], [program]
        apart = []
        for group in groups:
            if _belong_together(members, group[1]):
                names, members = [*group[0], *names], [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (names, members)]
    for names, members in groups:
        yield names, merged(members)


def _belong_together(some: list[Program], others: list[Program]) -> bool:
    """Whether programs share a function, and no name is two things in them."""
    left, right = merged(some), merged(others)
    if not set(left.pieces) & set(right.pieces):
        return False
    known = _meanings(left)
    return all(known.get(name, meaning) == meaning for name, meaning in _meanings(right).items())


def _meanings(program: Program) -> dict[str, Piece | Imported]:
    """What each name of a program is."""
    meanings: dict[str, Piece | Imported] = {each.name: each for each in program.imports}
    meanings.update({name: piece for piece in program.pieces for name in piece.names})
    return meanings
