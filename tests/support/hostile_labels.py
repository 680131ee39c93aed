"""Labels that would harm a page, or change what it says, where they were not shown as text."""

import re
from html.parser import HTMLParser
from typing import NamedTuple

LONG = 10_000


class Label(NamedTuple):
    """A label, and what must be found nowhere once it is Markdown and its escapes are taken away."""

    text: str
    trap: str


NEVER = r"(?!)"
"""Found nowhere: such a label may only do harm in code, or in a format."""

LABELS = {
    "tag": Label("<img src=x onerror=window.harmed=1>", r"<img"),
    "script": Label("</style></script><script>window.harmed=1</script>", r"<script"),
    "quotes": Label("\"' onmouseover=window.harmed=1 x=` ‘’“”«»", r"\"' onmouse.*`"),
    "link": Label("[trap](javascript:window.harmed=1)", r"\]\("),
    "link in code": Label("`[trap](javascript:window.harmed=1)` `<b>`", NEVER),
    "picture": Label("![trap](https://harm.invalid/x.png)", r"!\["),
    "address": Label("https://harm.invalid/x www.harm.invalid", r"https?://|www\."),
    "mail": Label("trap@harm.invalid", r"trap@"),
    "turned": Label("a\u202egnp.exe\u2066\u200f", "[\u202e\u2066\u200f]"),
    "nothing": Label("a\x00b\x1b[31m", "[\x00\x1b]"),
    "mathematics": Label("$x$ $$y$$", r"\$"),
    "icon": Label(":material/skull: `:material/skull:`", r":material/skull:"),
    "face": Label(":skull: :streamlit:", r":skull:|:streamlit:"),
    "colour": Label(":red[trap] :red-badge[trap]", r":red"),
    "signs": Label("a -> b <- c -- d", r"->|<-|--"),
    "entity": Label("&lt;b&gt; &#60;", r"&"),
    "list": Label("1. one", r"^1\. "),
    "table": Label("| a | b |", r"\|"),
    "lines": Label("one\n\n# two", r"\n|# "),
    "braces": Label("{n} {0} %s %(x)s", NEVER),
}

LONGEST = "x" * LONG

TOGETHER = " ".join(label.text for label in LABELS.values())
"""All of them in one label."""

ESCAPED = re.compile(r"\\[^\w\s]")

CODE = re.compile(r"`[^`]*`")

OWN_TAGS = {"style", "div", "span", "img", "table", "tr", "th", "td", "br", "small", "code"}
"""What the app's own HTML is made of."""


def laid_bare(markdown: str) -> str:
    """Markdown without what its backslashes, and being code, take the meaning from."""
    return CODE.sub("·", ESCAPED.sub("·", markdown))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.harm: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in OWN_TAGS:
            self.harm.append(tag)
        for name, value in attrs:
            is_source = name in ("src", "href")
            if name.startswith("on") or (is_source and not (value or "").startswith("data:image/")):
                self.harm.append(f"{name}={value}")


def harm_in_html(html: str) -> list[str]:
    """The tags and attributes in HTML of the app's own that it does not use."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.harm
