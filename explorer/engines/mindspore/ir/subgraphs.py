"""Reads one subgraph: its preamble, its parameters, and its nodes."""

import re
from dataclasses import dataclass, field

from explorer.engines.mindspore.ir.lines import PAIR, Fault, IRSyntaxError, Lines
from explorer.engines.mindspore.ir.nodes import NodeReader
from explorer.engines.mindspore.ir.records import Abstract, IRNode, Parameter, Source, Subgraph
from explorer.engines.mindspore.ir.types import TypeReader
from explorer.engines.mindspore.ir.values import GRAPH, Scope

# The lines that a subgraph begins and ends with
_INDIRECT = re.compile(r"indirect: (\d+)")
_ATTRS = "subgraph attr:"
_ATTRS_LINE = re.compile(_ATTRS)
_SIGNATURE = re.compile(r"# Parameters: (\d+), \((.*)\)")
_EFFECTS = re.compile(r"# SideEffect: \{ ([\w ]*) \}")
GRAPH_START = "subgraph @"
"""The beginning of the line that declares a subgraph."""

_GRAPH = re.compile(
    rf"subgraph @({GRAPH})(?: parent: \[subgraph @({GRAPH})\])?(?: [\w ]+: \[[^\[\]]*\])*"
    r"\((?:%(?P<labels>.*?))?\)(?: [\w:, -]+)? \{",
    re.DOTALL,
)
_NEXT_LABEL = re.compile(r", %(?=para\d+_)")
_LABEL = re.compile(r"para\d+_(.*)", re.DOTALL)
_GRAPH_FORMS = "'# Parameters: …', '# In file …', '# SideEffect: …' or 'subgraph @name(…) {'"
_PREAMBLE_FORMS = f"'name: text', {_GRAPH_FORMS}"
_CALLABLE = frozenset({"Func", "null", "unknown"})
"""The types of parameters that may be functions."""
_ORDER = "# Order:"
_ORDERED = re.compile(r"# *\d+: @")  # from 1000 on no space is left before the number


@dataclass
class _Preamble:
    """The lines before a subgraph starts; ``types`` are those of its parameters."""

    attrs: dict[str, str] = field(default_factory=dict)
    types: tuple[Abstract, ...] | None = None
    side_effects: tuple[str, ...] = ()
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SubgraphReader:
    """Reads the subgraphs of one file, in which parameters have these labels."""

    def __init__(self, lines: Lines, types: TypeReader, labels: list[str]) -> None:
        self.lines = lines
        self.types = types
        self.scope = Scope(labels)
        self.nodes = NodeReader(lines, types, self.scope)

    def subgraph(self, entry: str, parameters: tuple[Parameter, ...]) -> Subgraph:
        """The subgraph that starts at the next line.

        The one named ``entry`` has the module's ``parameters``.
        """
        preamble = self._preamble()
        line = self.lines.at + 1
        match = self.lines.expect(_GRAPH, _GRAPH_FORMS)
        labels = _NEXT_LABEL.split(match["labels"]) if match["labels"] else []
        own = self._own_parameters(labels, preamble.types, line)
        if match[1] == entry and not own:
            own = parameters
        nodes, returned = self._body(_functions(own))
        self._order()
        return Subgraph(
            name=match[1],
            parameters=own,
            nodes=nodes,
            returned=returned,
            line=line,
            parent=match[2],
            attrs=preamble.attrs,
            side_effects=preamble.side_effects,
            sources=tuple(preamble.sources),
            notes=tuple(preamble.notes),
        )

    def _preamble(self) -> _Preamble:
        """Reads the lines before a subgraph starts."""
        lines = self.lines
        preamble = _Preamble()
        indirect = _INDIRECT.fullmatch(lines.peek() or "")
        if indirect is not None:
            preamble.attrs["indirect"] = indirect[1]
            lines.at += 1
        preamble.notes += lines.skip_unknown(_ATTRS_LINE)
        lines.expect(_ATTRS_LINE, f"'{_ATTRS}'")
        while (line := lines.peek()) is not None and not line.startswith(GRAPH_START):
            if line:
                self._preamble_line(line, preamble)
            lines.at += 1
        # It holds an address in memory, which is another one at every run.
        preamble.attrs.pop("subgraph instance", None)
        return preamble

    def _preamble_line(self, line: str, preamble: _Preamble) -> None:
        source = self.nodes.source(line)
        if (pair := PAIR.fullmatch(line)) is not None:
            preamble.attrs[pair[1]] = pair[2]
        elif (signature := _SIGNATURE.fullmatch(line)) is not None:
            preamble.types = self._parameter_types(line, signature)
        elif (effects := _EFFECTS.fullmatch(line)) is not None:
            preamble.side_effects = tuple(effects[1].split())
        elif source is not None:
            preamble.sources.append(source)
        elif line.startswith("#"):
            preamble.notes.append(line)
        else:
            raise self.lines.error(_PREAMBLE_FORMS)

    def _parameter_types(self, line: str, match: re.Match[str]) -> tuple[Abstract, ...]:
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
        """The parameters that a subgraph declares in its first line, number ``line``."""
        file = self.lines.file
        if types is not None and len(types) != len(labels):
            allowed = f"{len(types)}, as '# Parameters' says,"
            raise IRSyntaxError(file, line, 1, f"{len(labels)} parameters", allowed)
        parameters = []
        for label, abstract in zip(labels, types or (None,) * len(labels), strict=True):
            name = _LABEL.fullmatch(label)
            if name is None:
                raise IRSyntaxError(file, line, 1, repr(label), "parameters called para1_name")
            parameters.append(Parameter(label, name[1], abstract))
        return tuple(parameters)

    def _body(self, functions: dict[str, str]) -> tuple[tuple[IRNode, ...], IRNode | None]:
        """Reads the nodes up to the closing brace.

        ``functions`` are the parameters that may be called: name to label.
        """
        lines, scope = self.lines, self.scope
        scope.nodes = 0
        nodes: list[IRNode] = []
        returned = None
        # A subgraph ends with its Return, unless a stage has left it empty.
        while lines.peek() != "}" or nodes:
            node = self.nodes.node(functions)
            if node.op == "Return" and not node.name:
                returned = node
                break
            nodes.append(node)
            scope.nodes += 1
        if lines.peek() != "}":
            raise lines.error("'}' after Return")
        lines.at += 1
        return tuple(nodes), returned

    def _order(self) -> None:
        """Reads past the order of execution, which says again what the nodes say."""
        lines = self.lines
        if lines.peek() != _ORDER:
            return
        lines.at += 1
        while _ORDERED.match(lines.peek() or ""):
            self._ordered()

    def _ordered(self) -> None:
        """Reads past one entry of the order; a tensor among the operands may have several lines."""
        lines = self.lines
        while not (lines.peek() or "").endswith("}"):
            lines.at += 1
            line = lines.peek()
            if line is None or _ORDERED.match(line) or line.startswith(GRAPH_START):
                raise lines.error("the rest of an entry of '# Order:'")
        lines.at += 1


def declared_labels(line: str) -> list[str]:
    """The labels of the parameters that the first line of a subgraph declares."""
    match = _GRAPH.fullmatch(line)
    return _NEXT_LABEL.split(match["labels"]) if match and match["labels"] else []


def begins_subgraph(line: str) -> bool:
    """Whether a line is the first of a subgraph's preamble."""
    return line == _ATTRS or _INDIRECT.fullmatch(line) is not None


def _functions(parameters: tuple[Parameter, ...]) -> dict[str, str]:
    """The parameters that may be functions: name to label.

    Of several of one name it is the one that is known to be a function.
    """
    functions: dict[str, str] = {}
    known: dict[str, str] = {}
    for parameter in parameters:
        type_name = parameter.abstract.type.name if parameter.abstract else "unknown"
        if type_name in _CALLABLE:
            functions[parameter.name] = parameter.label
        if type_name == "Func":
            known[parameter.name] = parameter.label
    return functions | known
