"""Messages of the frameworks: where they end, and what changes in them from run to run.

This is the one place that knows.
"""

import re

from explorer.shipped import PACKAGE
from explorer.text.clean import clean

RULE = re.compile(r"^\s*-{20,}\s*$", re.MULTILINE)
"""The lines with which MindSpore 2.10 rules its messages."""

STACK = re.compile(
    r"(?:^|\s)(?:-{10,}\s)?- (?:C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)"
)
"""The end of the message proper in MindSpore 2.10: its own sources and stacks follow."""

ON_FAKE_TENSORS = re.compile(
    r"when making fake tensor call\b.*?: got (?P<type>\w+)\((?P<quote>['\"])(?P<why>.*?)(?P=quote)\)",
    re.DOTALL,
)
"""What PyTorch 2.13's compiler says of a call that raised while it was traced.

Why it raised stands behind the call, which may be longer than all that is kept of a message.
"""

ADVICE = re.compile(
    r"\.? ?node:|, Please|[.!]? - [CFT]|\. For more details| FunctionGraph ID"
    r"|\. Dynamo does not| Explanation: | Caused by: | Arguments received"
)
"""The end of the first statement of a message (MindSpore 2.10, PyTorch 2.13, Keras 3).

Behind it stand advice and names of nodes.
"""

SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")
"""The end of a sentence; a stop within a name or a number is none."""

CLAUSE_END = re.compile(r"\. |: | \(")
"""The end of the first clause of a message."""

DECORATION = re.compile(r"\x1b\[\d*m|^- ")
"""Colours of a terminal, and what is left of a heading."""

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""An address in memory: of no use to a reader, and another one in every run."""

RUNNING_NUMBERS = (
    (re.compile(r"(?<=[A-Za-z])_\d{2,}\b"), "_…"),
    (re.compile(r"uid\(\d+\)"), "uid(…)"),
    (re.compile(r"(?<=::)\d{6,}\b"), "…"),
)
"""The numbers that MindSpore 2.10 gives to graphs and nodes, and what is put in their place.

They are others at every run.
"""

ONE_LINE = 400
"""The greatest number of characters of a message that stands on one line."""

CUT = " …"
"""What stands in the place of a text's end."""

BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）"}
"""Brackets, and what closes each."""

FOLDER = f"{PACKAGE.parent}/"
"""The folder that the explorer is in, as paths in messages begin."""

IN_A_FIGURE = 300
"""The greatest number of characters of a message that a measurement keeps."""

IN_A_NOTE = 200
"""The greatest number of characters of a message that explains an empty cell."""

IN_A_CLAUSE = 100
"""The greatest number of characters of a message in a cell among others."""


def without_stack(text: str) -> str:
    """The message proper: no rules, no stack of C++, none of the framework's own sources.

    Of a call that raised while it was traced, what it raised.
    """
    cause = ON_FAKE_TENSORS.search(text)
    if cause:
        return f"{cause['type']}: {cause['why']}"
    return STACK.split(RULE.sub("", text), maxsplit=1)[0]


def whole_line(text: str) -> str:
    """The message proper, cleaned, on one line, without addresses and runs of white space."""
    # White space goes before clean(), which would spell out every line break.
    return clean(ADDRESS.sub("0x…", " ".join(without_stack(text).split())))


def one_line(text: str, limit: int = ONE_LINE) -> str:
    """The message proper, cleaned, on one line of at most ``limit`` characters."""
    line = whole_line(text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def shortened(text: str, limit: int = ONE_LINE) -> str:
    """The text on one line of at most ``limit`` characters, cut between words where it has spaces.

    Brackets that are open there are closed behind that.
    """
    line = whole_line(text)
    if len(line) <= limit:
        return line
    cut = line[: limit - len(CUT)]
    space = line.rfind(" ", 0, limit - len(CUT) + 1)
    if space > limit // 2:  # Chinese has no spaces, but around names
        cut = line[:space]
    cut = cut.rstrip(" ,;:([{（")
    opened: list[str] = []
    for sign in cut:
        if sign in BRACKETS:
            opened.append(BRACKETS[sign])
        elif opened and sign == opened[-1]:
            opened.pop()
    closed = cut + CUT + "".join(reversed(opened))
    return closed if len(closed) <= limit else shortened(text, limit - len(opened))


def repeatable(text: str) -> str:
    """The message on one line as a measurement keeps it, the same at every run and in every folder."""
    # Cut to its length last: a number may have more digits in another run, and a path is longer elsewhere.
    message = without_stack(text).replace(FOLDER, "")
    for pattern, instead in RUNNING_NUMBERS:
        message = pattern.sub(instead, message)
    return one_line(message, IN_A_FIGURE)


def without_node(message: str) -> str:
    """A message on one line without the node that MindSpore 2.10 ends it with in tape style.

    The node has the number of its graph, which is another at every run.
    """
    return message.partition(" node:")[0]


def first_statement(message: str) -> str:
    """A message up to the end of its first statement.

    The advice behind it is left out, and so are names that are new at every run.
    """
    return ADVICE.split(DECORATION.sub("", message))[0]


def brief(text: str) -> str:
    """The first statement of a message on one line, for a reader who can look up the whole."""
    return one_line(first_statement(whole_line(text)), IN_A_NOTE)


def first_sentence(text: str) -> str:
    """The first sentence of a message without its full stop, to stand in a sentence of ours."""
    return SENTENCE_END.split(brief(text), maxsplit=1)[0].rstrip(".")


def first_clause(message: str) -> str:
    """A message up to its first full stop, colon or bracket, at most IN_A_CLAUSE characters long."""
    clause = CLAUSE_END.split(message)[0]
    return clause if len(clause) <= IN_A_CLAUSE else clause[: IN_A_CLAUSE - 1] + "…"
