"""Words that all things shown share."""

from collections.abc import Mapping

from explorer.text.language import named

NOTHING = "—"
"""The text of an empty cell."""

KINDS = {
    "layout": "layouts of pictures",
    "scenario": "reports on scenarios",
    "reading": "what scenarios' files declare",
    "measurement": "measurements of studies and claims",
    "card": "cards of scenarios",
    "drawing": "drawings of the app's first page",
    "versions": "versions of the frameworks",
    "damaged": "damaged files, which are made again when they are asked for",
}
"""The kinds of results that the store holds."""


def versions_text(versions: Mapping[str, str]) -> str:
    """Packages with their versions: "mindspore 2.10.0, torch 2.13.0"."""
    return named([f"{name} {version}" for name, version in versions.items()])
