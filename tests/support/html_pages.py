"""A page of HTML as it is read: tags, texts and attributes; a tag that is closed in a wrong order fails."""

from html.parser import HTMLParser

VOID = ("meta", "br", "img", "hr", "input", "link")
"""Elements that are never closed."""


class HtmlPage(HTMLParser):
    """What stands on a page; texts of scripts and style sheets stand apart, since nobody reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.hidden = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.hidden += data
        else:
            self.texts.append(data)

    def values(self, *names: str) -> list[str]:
        """The values of all attributes with these names."""
        return [value for name, value in self.attributes if name in names]
