"""Reads a whole IR text: header, parameters and subgraphs."""

import re
from pathlib import Path

from explorer.engines.mindspore.ir.lexer import Fault, IRSyntaxError, Lines
from explorer.engines.mindspore.ir.nodes import NodeReader
from explorer.engines.mindspore.ir.records import (
    Abstract,
    IRNode,
    Module,
    Parameter,
    Source,
    Subgraph,
)
from explorer.engines.mindspore.ir.types import TypeReader
from explorer.engines.mindspore.ir.values import GRAPH, Scope

_ENTRY = re.compile(rf"# IR entry: @({GRAPH})")
_TOTAL = re.compile(r"# Total subgraphs: (\d+)")
_PARAMETERS = re.compile(r"# Total params: (\d+)")
_PARAMETER = re.compile(
    r"%(?P<label>para\d+_(?P<name>.*?)): <(?P<abstract>.*?)>(?: : (?P<symbols>\[.*?\]))?(?P<default>  :  has_default)?"
    r"(?:  :  <(?P<layout>.*)>)?(?:  :  IsWeight: (?P<weight>true|false))?",
    re.DOTALL,
)
_PAIR = re.compile(r"([A-Za-z_][^:]*): (.*)")
_COUNT = re.compile(r"Total number of c?nodes: \d+")
_GRAPH = re.compile(
    rf"subgraph @({GRAPH})(?: parent: \[subgraph @({GRAPH})\])?\((?:%(.*))?\) \{{", re.DOTALL
)
_SIGNATURE = re.compile(r"# Parameters: (\d+), \((.*)\)")
_EFFECTS = re.compile(r"# SideEffect: \{ ([\w ]*) \}")
_NEXT_LABEL = re.compile(r", %(?=para\d+_)")
_LABEL = re.compile(r"para\d+_(.*)", re.DOTALL)
_CALLABLE = {"Func", "null", "unknown"}
_INDIRECT = re.compile(r"indirect: (\d+)")
_SYMBOLS = "symbol engine details:"
_ORDERED = re.compile(r"# +\d+: @")
_FAILURE_LOG = "# ======"
_FAILURE_NOTE = re.compile(
    r"# ={9,}|# The (?:total of|rest) function graphs .*|No more function graphs\."
)


class _Reader:
    """Reads one file from top to bottom."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = Lines(text, file)
        self.types = TypeReader()
        self.scope = Scope(self._labels())
        self.nodes = NodeReader(self.lines, self.types, self.scope)

    def _labels(self) -> list[str]:
        """The labels of all parameters, read ahead because a subgraph may use those of one that is
        printed later.
        """
        found = []
        for line in self.lines.lines:
            if line.startswith("subgraph @"):
                match = _GRAPH.fullmatch(line)
                found += _NEXT_LABEL.split(match[3]) if match and match[3] else []
            elif line.startswith("%para"):
                label = _PARAMETER.fullmatch(line)
                found += [label["label"]] if label else []
        return found

    def module(self) -> Module:
        """The whole file."""
        log = self._log()
        entry = self._expect(_ENTRY, "'# IR entry: @name'")[1]
        total = int(self._expect(_TOTAL, "'# Total subgraphs: …'")[1])
        config = self._config()
        attrs = self._pairs("# Attrs:")
        parameters = self._parameters()
        self._counts()
        subgraphs: list[Subgraph] = []
        while self._at_subgraph(log):
            subgraphs.append(self._subgraph(entry, parameters))
        if total != len(subgraphs) and not log:  # the count in a failure's file is not kept up
            raise self.lines.error(f"subgraph {len(subgraphs) + 1} of {total}")
        return Module(
            entry=entry,
            parameters=parameters,
            subgraphs=tuple(subgraphs),
            attrs=attrs,
            config=config,
            log=log,
        )

    def _expect(self, pattern: "re.Pattern[str]", allowed: str) -> "re.Match[str]":
        self.lines.skip_blank()
        match = pattern.fullmatch(self.lines.peek() or "")
        if match is None:
            raise self.lines.error(allowed)
        self.lines.at += 1
        return match

    def _log(self) -> str:
        """What a failed compilation's file says before its IR."""
        lines = self.lines
        if not (lines.peek() or "").startswith(_FAILURE_LOG):
            return ""
        while lines.at < len(lines.lines) and not lines.lines[lines.at].startswith("# IR entry: @"):
            lines.at += 1
        return "\n".join(lines.lines[: lines.at])

    def _pairs(self, heading: str, end: str = "") -> dict[str, str]:
        """Reads ``name: text`` lines under a heading that may be missing, up to the line ``end``."""
        self.lines.skip_blank()
        found: dict[str, str] = {}
        if self.lines.peek() != heading:
            return found
        self.lines.at += 1
        while (line := self.lines.peek()) != end:
            match = _PAIR.fullmatch(line or "")
            if match is None:
                raise self.lines.error(
                    f"'name: text' or {end!r}" if end else "'name: text' or an empty line"
                )
            found[match[1]] = match[2]
            self.lines.at += 1
        self.lines.at += 1
        return found

    def _config(self) -> dict[str, str]:
        return self._pairs("jit config {", "}")

    def _parameters(self) -> tuple[Parameter, ...]:
        """Reads the entry's parameters."""
        total = int(self._expect(_PARAMETERS, "'# Attrs:' or '# Total params: …'")[1])
        found: list[Parameter] = []
        if total:
            self._expect(re.compile("# Params:"), "'# Params:'")
        while len(found) < total:
            line = self.lines.peek() or ""
            match = _PARAMETER.fullmatch(line)
            if match is None:
                raise self.lines.error(
                    f"parameter {len(found) + 1} of {total}: '%para{len(found) + 1}_name: <…>'"
                )
            try:
                abstract = self.types.abstract(match["abstract"])
            except Fault as fault:
                raise self.lines.error_in(
                    self.lines.at, line, fault.moved(match.start("abstract"))
                ) from None
            weight = None if match["weight"] is None else match["weight"] == "true"
            default = match["default"] is not None
            symbols, layout = match["symbols"] or "", match["layout"] or ""
            found.append(
                Parameter(match["label"], match["name"], abstract, default, symbols, layout, weight)
            )
            self.lines.at += 1
        return tuple(found)

    def _counts(self) -> None:
        """Reads past the numbers of nodes, which count values too."""
        self.lines.skip_blank()
        if self.lines.peek() == "Node counting information:":
            self.lines.at += 1
            self._expect(_COUNT, "'Total number of nodes: …'")
            self._expect(_COUNT, "'Total number of cnodes: …'")

    def _at_subgraph(self, log: str) -> bool:
        """Whether another subgraph follows; reads past what else stands between and behind
        subgraphs.
        """
        self.lines.skip_blank()
        while (line := self.lines.peek()) is not None:
            if line == _SYMBOLS:
                self._skip_symbols()
            elif log and _FAILURE_NOTE.fullmatch(line):
                self.lines.at += 1
            else:
                break
            self.lines.skip_blank()
        if line is None:
            return False
        if line != "subgraph attr:" and _INDIRECT.fullmatch(line) is None:
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

    def _subgraph(self, entry: str, parameters: tuple[Parameter, ...]) -> Subgraph:
        attrs, types, effects, sources = self._preamble()
        line = self.lines.at + 1
        match = self._expect(
            _GRAPH, "'# Parameters: …', '# In file …', '# SideEffect: …' or 'subgraph @name(…) {'"
        )
        labels = _NEXT_LABEL.split(match[3]) if match[3] else []
        own = self._own_parameters(labels, types, line)
        if match[1] == entry and not own:
            own = parameters
        callable_names = {
            parameter.name: parameter.label
            for parameter in own
            if parameter.abstract is None or parameter.abstract.type.name in _CALLABLE
        }
        nodes, returned = self._body(callable_names)
        self._order()
        return Subgraph(
            name=match[1],
            parameters=own,
            nodes=nodes,
            returned=returned,
            line=line,
            parent=match[2],
            attrs=attrs,
            side_effects=effects,
            sources=sources,
        )

    def _preamble(
        self,
    ) -> tuple[dict[str, str], tuple[Abstract, ...] | None, tuple[str, ...], tuple[Source, ...]]:
        """Reads what is said of a subgraph before it starts: attributes, types of parameters, side
        effects, source code.
        """
        lines = self.lines
        attrs: dict[str, str] = {}
        indirect = _INDIRECT.fullmatch(lines.peek() or "")
        if indirect is not None:
            attrs["indirect"] = indirect[1]
            lines.at += 1
        self._expect(re.compile("subgraph attr:"), "'subgraph attr:'")
        types: tuple[Abstract, ...] | None = None
        effects: tuple[str, ...] = ()
        sources: list[Source] = []
        while (line := lines.peek()) is not None and not line.startswith("subgraph @"):
            source = self.nodes.source(line)
            if (pair := _PAIR.fullmatch(line)) is not None:
                attrs[pair[1]] = pair[2]
            elif (signature := _SIGNATURE.fullmatch(line)) is not None:
                types = self._parameter_types(line, signature)
            elif (effect := _EFFECTS.fullmatch(line)) is not None:
                effects = tuple(effect[1].split())
            elif source is not None:
                sources.append(source)
            elif line:
                raise lines.error(
                    "'name: text', '# Parameters: …', '# In file …', '# SideEffect: …' or 'subgraph @name(…) {'"
                )
            lines.at += 1
        attrs.pop("subgraph instance", None)  # an address in memory, another one at every run
        return attrs, types, effects, tuple(sources)

    def _parameter_types(self, line: str, match: "re.Match[str]") -> tuple[Abstract, ...]:
        try:
            types = self.types.abstracts(match[2])
        except Fault as fault:
            raise self.lines.error_in(self.lines.at, line, fault.moved(match.start(2))) from None
        if len(types) != int(match[1]):
            raise self.lines.error(f"{match[1]} types of parameters", match.start(2) + 1)
        return types

    def _own_parameters(
        self, labels: list[str], types: tuple[Abstract, ...] | None, line: int
    ) -> tuple[Parameter, ...]:
        if types is None:
            types = ()
        elif len(types) != len(labels):
            raise IRSyntaxError(
                self.lines.file,
                line,
                1,
                f"{len(labels)} parameters",
                f"{len(types)}, as '# Parameters' says,",
            )
        known = types or (None,) * len(labels)
        found = []
        for label, abstract in zip(labels, known, strict=True):
            name = _LABEL.fullmatch(label)
            if name is None:
                raise IRSyntaxError(
                    self.lines.file, line, 1, repr(label), "parameters called para1_name"
                )
            found.append(Parameter(label, name[1], abstract))
        return tuple(found)

    def _body(self, names: dict[str, str]) -> tuple[tuple[IRNode, ...], IRNode | None]:
        """Reads the nodes up to the closing brace."""
        lines, scope = self.lines, self.scope
        scope.nodes = 0
        nodes: list[IRNode] = []
        node = None
        while lines.peek() != "}" or nodes:  # a stage may leave an empty subgraph
            node = self.nodes.node(names)
            if node.op == "Return" and not node.name:
                break
            nodes.append(node)
            scope.nodes += 1
        if lines.peek() != "}":
            raise lines.error("'}' after Return")
        lines.at += 1
        return tuple(nodes), node

    def _order(self) -> None:
        """Reads past the order of execution, which says again what the nodes say."""
        lines = self.lines
        if lines.peek() != "# Order:":
            return
        lines.at += 1
        while (line := lines.peek() or "").startswith("# ") and _ORDERED.match(line):
            while not line.endswith("}"):  # a tensor among the operands takes several lines
                lines.at += 1
                following = lines.peek()
                if following is None or (
                    _ORDERED.match(following) or following.startswith("subgraph ")
                ):
                    raise lines.error("the rest of an entry of '# Order:'")
                line = following
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
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise IRSyntaxError(
            str(path),
            before.count(b"\n") + 1,
            column,
            f"byte {data[error.start]:#04x}",
            "UTF-8 text",
        ) from None
    return parse(text, str(path))
