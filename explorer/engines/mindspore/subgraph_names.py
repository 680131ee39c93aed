"""Readable names of an IR's subgraphs: functions and conditions in place of marks and numbers."""

import re
from collections import Counter
from collections.abc import Iterable

from explorer.engines.capture.builder import GraphBuilder, NodeDraft
from explorer.engines.mindspore.ir.records import Source
from explorer.engines.mindspore.ir_statements import BACKPROPAGATOR, IRStatement, is_definition

MARKS = {
    "✓": "true branch",
    "✗": "false branch",
    "↰": "true branch",
    "↱": "false branch",
    "↓": "afterwards",
    "↵": "loop",
    "↻": "loop body",
}
"""The marks before the name of a function that the compiler made of a piece of one (2.10.0)."""

NAME = re.compile(
    r"^(?:\d+_)*(?P<back>[▸◂]?)(?:\d+_)?"
    r"\d*(?P<mark>[✓✗↰↱↓↵↻]?)[✓✗↰↱↓↵↻\d]*(?P<name>.*?)(?:_\d+)?$"
)
"""A subgraph's name: numbers, the side of a derivative, a mark, the user's name, a number."""

BRANCH = re.compile(r"[▸◂](\d+_\d*[✓✗↰↱↓↵↻]+)")
"""The part of their names that the forward and the backward of a piece of a function share."""

CONDITION = re.compile(r"(?:el)?((?:if|while|for) .+):$")
CONDITIONAL_EXPRESSION = re.compile(r"\b(if .+?) else\b")
LONGEST_CONDITION = 44
"""The most characters of a condition that is shown; a longer one is named by its line."""

BACKWARD = ", backward"

PARAMETER_MARKS = re.compile(r"^(?:[▸◂ф]|equiv_\d+_)+")
"""The marks that the compiler puts before the name of a parameter (2.10.0)."""

GENERATED_PARAMETER = re.compile(r"(?:Parameter|CNode)_\d+|")
"""A parameter that has no name in the source."""


class SubgraphNames:
    """The names of one program's subgraphs; a branch is named by the condition of its call."""

    def __init__(self) -> None:
        self._conditions: dict[str, str] = {}

    def survey(self, statements: Iterable[IRStatement]) -> None:
        """Remember the conditions of calls that enter one of several subgraphs."""
        for statement in statements:
            condition = _condition(statement) if len(statement.called) > 1 else ""
            if condition:
                self._conditions.update(dict.fromkeys(map(_branch, statement.called), condition))

    def rename(self, builder: GraphBuilder) -> None:
        """Give subgraphs and the calls that enter them readable names; equal ones are numbered."""
        nodes = [builder.nodes[number] for number in builder.kept()]
        labels = self._labels(nodes)
        for node in nodes:
            node.body = labels[node.body]
            if node.calls:
                node.calls = tuple(labels[name] for name in node.calls)
                node.name = _call_name(node.calls)

    def _labels(self, nodes: list[NodeDraft]) -> dict[str, str]:
        """The label of every subgraph that the nodes belong to or enter; "" for the main graph."""
        labels = {"": ""}
        uses: Counter[str] = Counter()
        for node in nodes:
            for name in (node.body, *node.calls):
                if name not in labels:
                    label = readable(name, self._conditions.get(_branch(name), ""))
                    uses[label] += 1
                    labels[name] = label if uses[label] == 1 else f"{label} ({uses[label]})"
        return labels


def readable(name: str, condition: str = "") -> str:
    """A subgraph's name in words; that of a function is the function's own.

    >>> readable("165_160_99_▸59_✓net_construct_341", "if x.sum() > 0")
    'if x.sum() > 0: true branch'
    >>> readable("141_92_▸17_↻net_construct_307", ": of line 12")
    'loop body of line 12'
    >>> readable("73_deprecated_tensor_sum_176")
    'deprecated_tensor_sum'
    """
    parts = NAME.match(name)
    if parts is None:
        return name
    back = BACKWARD if parts["back"] == BACKPROPAGATOR else ""
    if not parts["mark"]:
        return (parts["name"] or name) + back
    return _piece(MARKS[parts["mark"]], condition) + back


def _piece(words: str, condition: str) -> str:
    """The name of a piece of a function, with the condition that leads to it or with its line."""
    if condition and ":" not in condition:
        return f"{condition}: {words}"
    return words + condition.lstrip(":")


def argument(name: str) -> str:
    """A subgraph's parameter as in the source, without the compiler's marks.

    It is "argument" where it has no name there.

    >>> argument("▸фh"), argument("equiv_17_cube"), argument("Parameter_375")
    ('h', 'cube', 'argument')
    """
    plain = PARAMETER_MARKS.sub("", name)
    return "argument" if GENERATED_PARAMETER.fullmatch(plain) else plain


def _call_name(calls: tuple[str, ...]) -> str:
    """The name of a call: the condition that it decides by, or the function that it enters."""
    first = calls[0].removesuffix(BACKWARD)
    if len(calls) == 1 or ":" in first:
        return first.partition(":")[0]
    return first.removeprefix("true ").removeprefix("false ")


def _branch(name: str) -> str:
    """The number and mark that a branch shares with its backward; else the whole name."""
    branch = BRANCH.search(name)
    return branch[1] if branch else name


def _condition(statement: IRStatement) -> str:
    """The condition that a call decides by, as the user wrote it, or ":" and its line."""
    source = _innermost_call(statement.node.sources)
    if source is None:
        return ""
    code = source.code.strip()
    written = CONDITION.match(code) or CONDITIONAL_EXPRESSION.search(code)
    if written and len(written[1]) <= LONGEST_CONDITION:
        return written[1]
    return f": of line {source.line}"


def _innermost_call(sources: tuple[Source, ...]) -> Source | None:
    """The last of some sources that is not the head of a function."""
    for source in reversed(sources):
        if not is_definition(source):
            return source
    return None
