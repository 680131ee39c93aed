"""Messages for whoever looks at the page, and foreign text as Markdown that shows it as it is.

Beside Markdown, Streamlit 1.67 makes icons of ``:material/home:``, faces of ``:smile:``, colours of
``:red[x]``, links of whatever looks like an address, and signs of ``->``.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from explorer.blocks.markdown import escape
from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.model.findings import ReportFinding
from explorer.text.choices import SHOWN, nearest
from explorer.text.clean import clean
from explorer.text.language import _, named
from explorer.web.shared_runs import StoppedError
from explorer.words.findings import sentence as finding_sentence
from explorer.words.scenarios import said

# Foreign text


NOTHING = ":gray[]"
"""An empty piece: nothing of it is seen or copied, and what it stands in is no icon, face or link."""

MEANT = re.compile(
    r":(?=[\w+/-])"  # icons, faces, colours, addresses
    r"|(?<=[wW]{3})(?=\.)|(?=@)"  # addresses without a colon
    r"|(?<=\\-)(?=\\[->])|(?<=\\<)(?=\\-)|(?<=\\[<>~])(?==)"  # arrows, dashes, ≥ and ≤
)
"""Where Streamlit would see something other than text, once it is escaped."""

NUMBER = re.compile(r"^(\d+)([.)])")
"""What would begin a list with numbers."""

LONGEST = 3000
"""The number of characters after which a text is cut: a page must stay one that can be read."""


def plain(text: str) -> str:
    """A foreign text as Markdown that shows it, on one line."""
    seen = clean(text, keep="\n").strip()
    if len(seen) > LONGEST:
        seen = f"{seen[:LONGEST]} …"
    # Icons and faces are made inside code as well, where nothing can be put between.
    if re.search(r":[\w+/-]+:", seen):
        seen = seen.replace("`", "'")
    escaped = NUMBER.sub(r"\1\\\2", escape(seen))
    return _outside_code(escaped)


def _outside_code(escaped: str) -> str:
    """The empty piece where it is needed, in what is no code."""
    pieces = re.split(r"((?<!\\)`[^`]*`)", escaped)
    for place in range(0, len(pieces), 2):
        pieces[place] = MEANT.sub(_broken, pieces[place])
    return "".join(pieces)


def _broken(match: "re.Match[str]") -> str:
    # The colon itself must not begin the empty piece's name anew.
    return f"\\:{NOTHING}" if match.group() else NOTHING


def without_pictures(markdown: str) -> str:
    """Markdown of an author, in which pictures are text: they would be loaded from other hosts."""
    return markdown.replace("![", "!\\[")


# Unknown names in an address


def refusal(fact: str, given: str, allowed: Sequence[str]) -> str:
    """The fact, the nearest allowed name if one is near, and what is allowed."""
    near = nearest(given, allowed)
    shown = list(allowed)
    text = _("{fact}; allowed: {names}")
    if near:
        text = _("{fact}; did you mean {nearest}? allowed: {names}")
    rest = ""
    if len(allowed) > SHOWN:
        shown = (near or shown)[:SHOWN]
        rest = _(", … ({n} in all)").format(n=len(allowed))
    first = repr(near[0]) if near else ""
    return text.format(fact=fact, nearest=first, names=named(shown) + rest)


# Messages


def show_error(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(plain(message))


@contextmanager
def errors_shown() -> Iterator[None]:
    """What is raised on purpose inside the context becomes one message on the page."""
    try:
        yield
    except StoppedError:
        pass  # the page says so already, with a way to go on
    except ExplorerError as error:
        show_error(str(error))
    except WorkerFaultError as error:
        show_error(error.line)


def show_finding(finding: ReportFinding) -> None:
    """What was found out about the nets themselves; an alarm or not."""
    if finding.is_remark:
        st.info(plain(finding_sentence(finding)))
    elif finding.expected:
        st.info(plain(f"{finding_sentence(finding)} ({said(finding.reason)})"))
    else:
        st.warning(plain(finding_sentence(finding)))
