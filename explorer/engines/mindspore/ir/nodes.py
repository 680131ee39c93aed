"""Reads one node: its statement, the lines on its types, and the comments under them."""

import re
from typing import Any

from explorer.engines.mindspore.ir.lines import Fault, Lines, is_balanced
from explorer.engines.mindspore.ir.records import (
    Attributes,
    GraphRef,
    IRNode,
    OpKind,
    ParameterRef,
    Source,
    Symbol,
    Value,
)
from explorer.engines.mindspore.ir.types import TypeReader
from explorer.engines.mindspore.ir.values import (
    GRAPH,
    Scope,
    read_atom,
    read_attributes,
    read_operands,
)

_NODE = re.compile(r"  (?:%(\d+)\((.*?)\) = |Return(?=\())")
_NODE_FORMS = "a node ('  %0(name) = …') or '  Return(…)'"

# What is applied
_CALL = re.compile(rf"call @({GRAPH})\(")
_OPERATOR = re.compile(r"([A-Za-z_]\w*)(\[\w*\])?(\{[^\n]*?\})?\(")
_PREFIXES: dict[str, OpKind] = {"PrimFunc_": "PrimFunc", "S_Prim_": "S_Prim"}
_TARGETS = re.compile(rf"\[@(?:@{GRAPH}|(?:FuncUnion|Partial)\([^\[\]\n]*\))\]")
_TARGET = re.compile(rf"@((?!FuncUnion\(|Partial\(){GRAPH})")
_UNDECLARED = re.compile(r"Parameter_\d+(?=\(|\[@)|[^\s(),\[\]]+(?=\[@)")

# What follows the operands
_SECTION = re.compile(
    r" (?:\{instance name: ([^}\n]*)\}"
    r"|(primitive_attrs|cnode_attrs|cnode_primal_attrs): \{)"
)
_FIELDS = {
    "primitive_attrs": "attrs",
    "cnode_attrs": "cnode_attrs",
    "cnode_primal_attrs": "primal_attrs",
}
_SECTION_FORMS = (
    f"' {{instance name: …}}', ' {{' behind one of {', '.join(_FIELDS)}, or the end of the node"
)

# The lines under a statement
_TYPES = "      : "
_BEHIND_STATEMENT = (_TYPES, "  %", "  Return", "      #", "}")
_UNDER_NODE = "      "
_SOURCE_START = "      # In file "
_SOURCE = re.compile(
    r" *# In file (?P<file>.+?):(?P<line>\d+)(?:~(?P<last>\d+))?"
    r"(?:, (?P<left>\d+)~(?P<right>\d+))?/(?P<code>.*?)/(?P<shared>"
    r"<~~This line of code can be shared by multiple nodes, and may be duplicated\./)?"
)
_NOTE = re.compile(
    r" +#(?: Fullname with scope: \((?P<full>.*)\)| ?[Ss]cope: \((?P<scope>.*)\)"
    r"| SideEffect: \{ (?P<effects>[\w ]*) \})"
)
_HEADINGS = {
    "      # Corresponding forward node candidate:": "forward_sources",
    "      # Corresponding code candidate:": "similar_sources",
}
_REMARKS, _REMARK = "      # Comment:", "        # "
_FAILED = re.compile(r"#-+> (\d+)")


class NodeReader:
    """Reads the nodes of one file."""

    def __init__(self, lines: Lines, types: TypeReader, scope: Scope) -> None:
        self.lines, self.types, self.scope = lines, types, scope
        self._sources: dict[str, Source] = {}

    def node(self, names: dict[str, str]) -> IRNode:
        """The node that starts at the next line.

        ``names`` are the subgraph's parameters that may be called: name to label.
        """
        failed_at = self._failed_at()
        start = self.lines.at
        if self.lines.peek() is None:
            raise self.lines.error(_NODE_FORMS)
        text = self._statement()
        try:
            fields = self._parts(text, names)
        except Fault as fault:
            raise self.lines.error_in(start, text, fault) from None
        fields |= self._types(len(fields["operands"]))
        fields |= self._comments()
        return IRNode(line=start + 1, failed_at=failed_at, **fields)

    def _failed_at(self) -> int | None:
        """Reads the mark that says which evaluation did not succeed, if there is one."""
        self.lines.skip_blank()
        mark = _FAILED.fullmatch(self.lines.peek() or "")
        if mark is None:
            return None
        self.lines.at += 1
        return int(mark[1])

    def _statement(self) -> str:
        """The text of a node up to its types; a tensor or a string in it may have several lines."""
        lines, start = self.lines.lines, self.lines.at
        end = start + 1
        while end < len(lines) and not lines[end].startswith(_BEHIND_STATEMENT):
            end += 1
        # Joining is slow, and hardly ever needed.
        text = lines[start] if end == start + 1 else "\n".join(lines[start:end])
        self.lines.at = end
        return text

    def _parts(self, text: str, names: dict[str, str]) -> dict[str, Any]:
        """Reads a statement into the fields of an IRNode."""
        match = _NODE.match(text)
        if match is None:
            raise Fault(0, _NODE_FORMS)
        # A Return has neither a number nor a name; it counts on.
        fields: dict[str, Any] = {
            "index": self.scope.nodes,
            "name": match[2] or "",
            "op": "Return",
            "kind": "Primitive",
        }
        at = match.end() + 1
        if match[1] is not None:
            if int(match[1]) != self.scope.nodes:
                raise Fault(2, f"%{self.scope.nodes}, the next node")
            at = self._operator(text, match.end(), names, fields)
        fields["operands"], at = read_operands(text, at, self.scope)
        if match[1] is None and len(fields["operands"]) != 1:
            raise Fault(at - 1, "one value that is returned", f"{len(fields['operands'])} values")
        self._sections(text, at, fields)
        return fields

    def _sections(self, text: str, at: int, fields: dict[str, Any]) -> None:
        """Reads the sections behind the operands into ``fields``: a name and attributes."""
        while at < len(text):
            section = _SECTION.match(text, at)
            if section is None:
                at = _unknown_section(text, at, fields)
                continue
            at = section.end()
            if section[2] is None:
                fields["instance_name"] = section[1]
            else:
                attributes: Attributes
                attributes, at = read_attributes(text, at, self.scope)
                fields[_FIELDS[section[2]]] = attributes

    def _operator(self, text: str, at: int, names: dict[str, str], fields: dict[str, Any]) -> int:
        """Reads the operator or function that is applied into ``fields``; the offset behind "("."""
        call = _CALL.match(text, at)
        if call is not None:
            fields.update(op="", kind="call", callee=GraphRef(call[1]))
            return call.end()
        # A parameter that is a function may have the name of an operator.
        operator = _OPERATOR.match(text, at)
        if operator is None or operator[1] in names:
            return self._callee(text, at, names, fields)
        if "" in names and _UNDECLARED.match(text, at):
            return self._callee(text, at, names, fields)
        detail = (operator[2] or "") + (operator[3] or "")
        op, kind = _prefixed(operator[1], "MetaFuncGraph" if detail else "Primitive")
        fields.update(op=op, kind=kind, detail=detail)
        return operator.end()

    def _callee(self, text: str, at: int, names: dict[str, str], fields: dict[str, Any]) -> int:
        """Reads a function that is a value, and where it may lead, into ``fields``.

        It is a node, a parameter, or either of a parent graph. Returns the offset behind "(".
        """
        callee: Value
        if text[at : at + 1] in {"%", "$"}:
            callee, at = read_atom(text, at, self.scope)
        else:
            callee, at = self._named_parameter(text, at, names)
        targets = _TARGETS.match(text, at)
        if targets is not None:
            fields["targets"] = tuple(_TARGET.findall(targets[0].replace("[@@", "[@")))
            at = targets.end()
        if not text.startswith("(", at):
            raise Fault(at, "'[@…]' or '('")
        fields.update(op="", kind="call", callee=callee)
        return at + 1

    def _named_parameter(self, text: str, at: int, names: dict[str, str]) -> tuple[Value, int]:
        """A parameter that is called, which is written as its bare name."""
        # Several names may fit, since they may hold any character: the longest is meant.
        called = ""
        for name in names:
            is_called = text.startswith((f"{name}(", f"{name}[@"), at)
            if is_called and len(name) > len(called):
                called = name
        if called:
            return ParameterRef(names[called]), at + len(called)
        # The kernel stages call parameters that they declare nowhere (2.10.0).
        undeclared = _UNDECLARED.match(text, at) if "" in names else None
        if undeclared is None:
            raise Fault(at, "an operator, 'call @graph', or a node or parameter that is a function")
        return Symbol(undeclared[0]), undeclared.end()

    def _types(self, operands: int) -> dict[str, Any]:
        """Reads the signature and the lines on layouts."""
        lines = self.lines
        line = lines.peek()
        if line is None or not line.startswith(_TYPES):
            raise lines.error("'      : (' and the types of the node")
        try:
            inputs, output = self.types.signature(line[len(_TYPES) :])
        except Fault as fault:
            raise lines.error_in(lines.at, line, fault.moved(len(_TYPES))) from None
        if len(inputs) != operands:
            raise lines.error(f"as many types as operands, {operands}", len(_TYPES) + 1)
        layouts = []
        lines.at += 1
        while (line := lines.peek() or "").startswith(_TYPES):
            layouts.append(line[len(_TYPES) :])
            lines.at += 1
        return {"inputs": inputs, "output": output, "layouts": tuple(layouts)}

    def _comments(self) -> dict[str, Any]:
        """Reads the comments under a node."""
        fields: dict[str, Any] = {}
        sources: list[Source] = []
        section = "sources"
        lines, known = self.lines, self._sources
        while (line := lines.peek() or "").startswith(_UNDER_NODE):
            # Real files quote the same few lines at most nodes: each is read once.
            source = known.get(line)
            if source is None and line.startswith(_SOURCE_START):
                source = self.source(line)
            if source is not None:
                sources.append(source)
            elif line == _REMARKS:
                fields["remarks"] = self._remarks()
                continue
            elif line in _HEADINGS:
                fields[section] = fields.get(section, ()) + tuple(sources)
                section, sources = _HEADINGS[line], []
            else:
                self._note(line, fields)
            lines.at += 1
        fields[section] = fields.get(section, ()) + tuple(sources)
        return fields

    def _remarks(self) -> tuple[str, ...]:
        """Reads the special comments that the user's source code holds."""
        lines = self.lines
        remarks = []
        lines.at += 1
        while (line := lines.peek() or "").startswith(_REMARK):
            remarks.append(line.removeprefix(_REMARK))
            lines.at += 1
        return tuple(remarks)

    def source(self, line: str) -> Source | None:
        """The stretch of code that a comment quotes; None if it is another comment."""
        match = _SOURCE.fullmatch(line)
        if match is None:
            return None
        first = int(match["line"])
        columns = (int(match["left"]), int(match["right"])) if match["left"] else None
        source = Source(
            file=match["file"],
            line=first,
            last_line=int(match["last"] or first),
            columns=columns,
            code=match["code"],
            shared=match["shared"] is not None,
        )
        self._sources[line] = source
        return source

    def _note(self, line: str, fields: dict[str, Any]) -> None:
        """Reads a comment on name, scope or side effects into ``fields``, or keeps it as it is."""
        match = _NOTE.fullmatch(line)
        if match is None:
            fields["notes"] = (*fields.get("notes", ()), line.strip())
        elif match["effects"] is not None:
            fields["side_effects"] = tuple(match["effects"].split())
        elif match["full"] is not None:
            fields["full_name"] = match["full"]
            fields["scope"] = match["full"].rpartition("/")[0]
        else:
            fields["scope"] = match["scope"]


def _unknown_section(text: str, at: int, fields: dict[str, Any]) -> int:
    """Keeps what stands before the next section that is known; the offset behind it."""
    known = _SECTION.search(text, at + 1)
    end = len(text) if known is None else known.start()
    section = text[at:end]
    if not section.startswith(" ") or not is_balanced(section):
        raise Fault(at, _SECTION_FORMS)
    fields["marks"] = (*fields.get("marks", ()), section.strip())
    return end


def _prefixed(name: str, kind: OpKind) -> tuple[str, OpKind]:
    """An operator's name without a prefix, and the kind that the prefix stands for, or ``kind``."""
    for prefix, prefixed_kind in _PREFIXES.items():
        if name.startswith(prefix):
            return name.removeprefix(prefix), prefixed_kind
    return name, kind
