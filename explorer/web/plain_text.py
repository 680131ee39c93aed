"""Foreign text for Streamlit's Markdown, which shows it as it stands.

Beside Markdown, Streamlit 1.67 makes icons of ``:material/home:``, faces of ``:smile:``, colours of
``:red[x]``, links of whatever looks like an address, and signs of ``->``.
"""

import re

from explorer.blocks.markdown import escape
from explorer.text.clean import clean

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
    """Markdown of an author, in which pictures are text: they would be asked from other hosts."""
    return markdown.replace("![", "!\\[")
