"""What frameworks say when they refuse: the one place that knows where their messages end and what
changes in them.
"""

import re

from explorer.text.clean import clean

RULE = re.compile(r"^\s*-{20,}\s*$", re.MULTILINE)
"""The lines with which MindSpore 2.10 rules its messages."""

STACK = re.compile(
    r"(?:^|\s)(?:-{10,}\s)?- (?:C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)"
)
"""Where MindSpore 2.10 stops to speak of the program and appends its own sources."""

ADVICE = re.compile(
    r"\.? ?node:|, Please|[.!]? - [CFT]|\. For more details| FunctionGraph ID"
    r"|\. Dynamo does not| Explanation: | Arguments received"
)
"""Where the first statement of a message ends (MindSpore 2.10, PyTorch 2.13, Keras 3): what follows
is advice, or names of nodes.
"""

CLAUSE_END = re.compile(r"\. |: | \(")
"""Where the first clause of a message ends."""

DECORATION = re.compile(r"\x1b\[\d*m|^- ")
"""Colours of a terminal, and what is left of a heading."""

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""Where something lay in memory: of no use to a reader, and another one in every run."""

RUNNING_NUMBERS = (
    (re.compile(r"(?<=[A-Za-z])_\d{2,}\b"), "_…"),
    (re.compile(r"uid\(\d+\)"), "uid(…)"),
)
"""Numbers that MindSpore gives to graphs and nodes, which are others at every run, and what stands
for them.
"""

ONE_LINE = 400
"""How many characters a message has at most where it stands on one line."""

IN_A_FIGURE = 300
"""How many characters of a message a measurement keeps."""

IN_A_CLAUSE = 100
"""How many characters of a message stand in a cell among others."""


def without_stack(text: str) -> str:
    """The message proper: no rules, no stack of C++, none of the framework's own sources."""
    return STACK.split(RULE.sub("", text), maxsplit=1)[0]


def one_line(text: str, limit: int = ONE_LINE) -> str:
    """The message proper, cleaned, on one line of at most ``limit`` characters, without addresses
    and runs of white space.
    """
    line = clean(ADDRESS.sub("0x…", " ".join(without_stack(text).split())))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def repeatable(text: str) -> str:
    """The message on one line without what is another at every run, as a measurement keeps it."""
    message = without_stack(text)
    for pattern, instead in RUNNING_NUMBERS:
        message = pattern.sub(instead, message)
    return one_line(message, IN_A_FIGURE)


def without_node(message: str) -> str:
    """A message on one line without the node that MindSpore 2.10 ends it with in tape style.

    The node has the number of its graph, which is another at every run.
    """
    return message.partition(" node:")[0]


def first_statement(message: str) -> str:
    """A message up to the end of its first statement: no advice, and no names that are new at every
    run.
    """
    return ADVICE.split(DECORATION.sub("", message))[0]


def first_clause(message: str) -> str:
    """A message up to its first full stop, colon or bracket, at most IN_A_CLAUSE characters long."""
    clause = CLAUSE_END.split(message)[0]
    return clause if len(clause) <= IN_A_CLAUSE else clause[: IN_A_CLAUSE - 1] + "…"
