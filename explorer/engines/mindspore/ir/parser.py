"""Reads a whole IR text: header, parameters and subgraphs."""

import re
from collections.abc import Mapping
from pathlib import Path

from explorer.engines.mindspore.ir.lines import PAIR, Fault, IRSyntaxError, Lines
from explorer.engines.mindspore.ir.records import Module, Parameter, Subgraph
from explorer.engines.mindspore.ir.subgraphs import (
    GRAPH_START,
    SubgraphReader,
    begins_subgraph,
    declared_labels,
)
from explorer.engines.mindspore.ir.types import TypeReader
from explorer.engines.mindspore.ir.values import GRAPH

# What a file begins with
_ENTRY = re.compile(rf"# IR entry: @({GRAPH})")
_TOTAL = re.compile(r"# Total subgraphs: (\d+)")
_CONFIG = "jit config {"
_ATTRS = "# Attrs:"
_PARAMETERS = re.compile(r"# Total params: (\d+)")
_PARAMETERS_HEADING = re.compile("# Params:")
_PARAMETER = re.compile(
    r"%(?P<label>para\d+_(?P<name>.*?)): <(?P<abstract>.*?)>(?: : (?P<symbols>\[.*?\]))?"
    r"(?P<marks>(?:  :  (?:(?!  :  ).)+)*)",
    re.DOTALL,
)
_BETWEEN_MARKS = "  :  "
_HAS_DEFAULT = "has_default"
_WEIGHT = {"IsWeight: true": True, "IsWeight: false": False}
_ENTRY_LINE = re.compile(r"# IR entry: @.*")
_BEFORE_TOTAL = re.compile(r"# Total subgraphs: .*")
_BEFORE_PARAMETERS = re.compile(r"jit config \{|# Attrs:|# Total params: .*")
_COUNTS = "Node counting information:"
_COUNT = re.compile(r"Total number of c?nodes: \d+")

# What may stand behind a subgraph
_SYMBOLS = "symbol engine details:"

# What surrounds the IR in the file that a failed compilation leaves
_FAILURE_LOG = "# ======"
_FAILURE_NOTE = re.compile(
    r"# ={9,}|# The (?:total of|rest) function graphs .*|No more function graphs\."
)


class _Reader:
    """Reads one file from top to bottom."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = Lines(text, file)
        self.types = TypeReader()
        self.subgraphs = SubgraphReader(self.lines, self.types, self._labels())

    def _labels(self) -> list[str]:
        """The labels of all parameters in the file.

        They are read ahead, because a subgraph may use those of one that is printed later.
        """
        labels = []
        for line in self.lines.lines:
            if line.startswith(GRAPH_START):
                labels += declared_labels(line)
            elif line.startswith("%para"):
                parameter = _PARAMETER.fullmatch(line)
                if parameter:
                    labels.append(parameter["label"])
        return labels

    def module(self) -> Module:
        """The whole file."""
        log = self._log()
        notes = self.lines.skip_unknown(_ENTRY_LINE)
        entry = self.lines.expect(_ENTRY, "'# IR entry: @name'")[1]
        notes += self.lines.skip_unknown(_BEFORE_TOTAL)
        total = int(self.lines.expect(_TOTAL, "'# Total subgraphs: …'")[1])
        notes += self.lines.skip_unknown(_BEFORE_PARAMETERS)
        config = self._pairs(_CONFIG, "}")
        notes += self.lines.skip_unknown(_BEFORE_PARAMETERS)
        attrs = self._pairs(_ATTRS)
        notes += self.lines.skip_unknown(_BEFORE_PARAMETERS)
        parameters = self._parameters()
        self._counts()
        subgraphs: list[Subgraph] = []
        while self._at_subgraph(log):
            subgraphs.append(self.subgraphs.subgraph(entry, parameters))
        # The count in a failure's file is not kept up (2.10.0).
        if total != len(subgraphs) and not log:
            raise self.lines.error(f"subgraph {len(subgraphs) + 1} of {total}")
        return Module(
            entry=entry,
            parameters=parameters,
            subgraphs=tuple(subgraphs),
            attrs=attrs,
            config=config,
            log=log,
            notes=notes,
        )

    def _log(self) -> str:
        """The text before the IR in the file of a failed compilation; "" in any other file."""
        lines = self.lines
        if not (lines.peek() or "").startswith(_FAILURE_LOG):
            return ""
        while lines.at < len(lines.lines) and not lines.lines[lines.at].startswith("# IR entry: @"):
            lines.at += 1
        return "\n".join(lines.lines[: lines.at])

    def _pairs(self, heading: str, end: str = "") -> dict[str, str]:
        """Reads lines ``name: text`` up to the line ``end``; their heading may be missing."""
        self.lines.skip_blank()
        pairs: dict[str, str] = {}
        if self.lines.peek() != heading:
            return pairs
        self.lines.at += 1
        while (line := self.lines.peek()) != end:
            pair = PAIR.fullmatch(line or "")
            if pair is None:
                raise self.lines.error(f"'name: text' or {repr(end) if end else 'an empty line'}")
            pairs[pair[1]] = pair[2]
            self.lines.at += 1
        self.lines.at += 1
        return pairs

    def _parameters(self) -> tuple[Parameter, ...]:
        """Reads the entry's parameters."""
        total = int(self.lines.expect(_PARAMETERS, "'# Attrs:' or '# Total params: …'")[1])
        parameters: list[Parameter] = []
        if total:
            self.lines.expect(_PARAMETERS_HEADING, "'# Params:'")
        while len(parameters) < total:
            number = len(parameters) + 1
            parameters.append(self._parameter(f"parameter {number} of {total}", number))
        return tuple(parameters)

    def _parameter(self, which: str, number: int) -> Parameter:
        """Reads the line of one of the entry's parameters."""
        line = self.lines.peek() or ""
        match = _PARAMETER.fullmatch(line)
        if match is None:
            raise self.lines.error(f"{which}: '%para{number}_name: <…>'")
        try:
            abstract = self.types.abstract(match["abstract"])
        except Fault as fault:
            moved = fault.moved(match.start("abstract"))
            raise self.lines.error_in(self.lines.at, line, moved) from None
        self.lines.at += 1
        layout, is_weight, unknown = "", None, []
        marks = match["marks"].split(_BETWEEN_MARKS)[1:]
        for mark in marks:
            if mark.startswith("<") and mark.endswith(">"):
                layout = mark[1:-1]
            elif mark in _WEIGHT:
                is_weight = _WEIGHT[mark]
            elif mark != _HAS_DEFAULT:
                unknown.append(mark)
        return Parameter(
            label=match["label"],
            name=match["name"],
            abstract=abstract,
            has_default=_HAS_DEFAULT in marks,
            symbols=match["symbols"] or "",
            layout=layout,
            is_weight=is_weight,
            marks=tuple(unknown),
        )

    def _counts(self) -> None:
        """Reads past the numbers of nodes, which count values too."""
        self.lines.skip_blank()
        if self.lines.peek() == _COUNTS:
            self.lines.at += 1
            self.lines.expect(_COUNT, "'Total number of nodes: …'")
            self.lines.expect(_COUNT, "'Total number of cnodes: …'")
            while PAIR.fullmatch(self.lines.peek() or "") and self.lines.peek() != _SYMBOLS:
                self.lines.at += 1

    def _at_subgraph(self, log: str) -> bool:
        """Whether another subgraph follows; reads past anything else before it."""
        self.lines.skip_blank()
        while (line := self.lines.peek()) is not None:
            if line == _SYMBOLS:
                self._skip_symbols()
            elif line.startswith("#") or (log and _FAILURE_NOTE.fullmatch(line)):
                self.lines.at += 1
            else:
                break
            self.lines.skip_blank()
        if line is None:
            return False
        if not begins_subgraph(line):
            raise self.lines.error("'subgraph attr:' or the end of the file")
        return True

    def _skip_symbols(self) -> None:
        """Reads past the relations between the names of unknown sizes."""
        lines = self.lines
        while lines.peek() != "}":
            if lines.peek() is None:
                raise lines.error("'}' after the details of the symbol engine")
            lines.at += 1
        lines.at += 1


def parse(text: str, file: str) -> Module:
    """Reads an IR text; ``file`` is its name in errors. Raises IRSyntaxError."""
    return _Reader(text, file).module()


def read(path: Path) -> Module:
    """Reads an IR file. Raises IRSyntaxError, OSError."""
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        byte = f"byte {data[error.start]:#04x}"
        raise IRSyntaxError(str(path), line, column, byte, "UTF-8 text") from None
    return parse(text, str(path))


def read_stages(files: Mapping[str, Path], needed: str) -> dict[str, Module]:
    """Reads the IR file of each stage; one that cannot be read is left out.

    Raises IRSyntaxError where that is the stage which is ``needed``.
    """
    modules = {}
    for stage, path in files.items():
        module = read(path) if stage == needed else _readable(path)
        if module is not None:
            modules[stage] = module
    return modules


def _readable(path: Path) -> Module | None:
    try:
        return read(path)
    except IRSyntaxError:
        return None
