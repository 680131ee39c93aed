"""Words that all things shown share."""

from collections.abc import Mapping

from explorer.text.language import _, later, named

NOTHING = "—"
"""The text of an empty cell."""

KINDS = {
    "reply": (later("reply of an engine"), later("replies of engines")),
    "layout": (later("layout of a picture"), later("layouts of pictures")),
    "scenario": (later("report on a scenario"), later("reports on scenarios")),
    "reading": (
        later("declaration of a scenario's file"),
        later("declarations of scenarios' files"),
    ),
    "measurement": (
        later("measurement of a study or a claim"),
        later("measurements of studies and claims"),
    ),
    "card": (later("card of a scenario"), later("cards of scenarios")),
    "drawing": (
        later("drawing of the app's first page"),
        later("drawings of the app's first page"),
    ),
    "versions": (
        later("list of the frameworks' versions"),
        later("lists of the frameworks' versions"),
    ),
    "damaged": (
        later("damaged file, which is made again when it is needed"),
        later("damaged files, which are made again when they are needed"),
    ),
}
"""The kinds of results that the store holds: one of them, and several."""


def measured_with(date: str, versions: Mapping[str, str]) -> str:
    """When and with which versions something was measured; ``date`` is "" where it is not known."""
    if not date:
        return versions_text(versions)
    text = _("Measured on {date} with {versions}")
    return text.format(date=date, versions=versions_text(versions))


def versions_text(versions: Mapping[str, str]) -> str:
    """Packages with their versions: "mindspore 2.10.0, torch 2.13.0"."""
    return named([f"{name} {version}" for name, version in versions.items()])
