"""Recorded results on pages: what they were recorded with, and how one's own take their place."""

from collections.abc import Callable
from typing import TypeVar

from explorer.report.recorded.reading import other_versions, recording
from explorer.report.wording import versions_text
from explorer.text.language import _
from explorer.web.asking import Asking, StoppedError
from explorer.web.watching import POLL_SECONDS, Watch
from explorer.words.cases import SEPARATOR

Answer = TypeVar("Answer")

MISSING = "none"
"""The version of a framework that is not installed."""


def recorded_with() -> str:
    """What a recorded result was recorded with, and that one's own takes its place."""
    text = _("Recorded with {versions} on {date}; shown until your own run is finished.")
    return _filled_in(text)


def page_recorded_with() -> str:
    """What the results on a page were recorded with, and how one's own are told from them."""
    text = _(
        "Pictures, verdicts and findings on this page were recorded with {versions} on {date}."
        " What you run takes their place and is marked “run here”."
    )
    return _filled_in(text)


def _filled_in(text: str) -> str:
    made = text.format(versions=versions_text(recording().versions), date=recording().date)
    installed = []
    for name, version in other_versions().items():
        installed.append(
            _("no {name}").format(name=name) if version == MISSING else f"{name} {version}"
        )
    if not installed:
        return made
    here = _("Installed here: {versions}. Results may differ.").format(
        versions=_(SEPARATOR).join(installed)
    )
    return f"{made} {here}"


def show_or_await(
    asking: Asking[Answer],
    recorded: Callable[[], Answer | None],
    show: Callable[[Answer, bool], None],
) -> None:
    """Show an answer; until it is there, and after it was stopped, the recorded one.

    ``show`` is called with what is to be shown, and with whether that is recorded. Raises the error
    of a question that failed.
    """
    # What is stored is there at once: then nothing is read of what is recorded.
    if asking.partial is None and not asking.finished.wait(POLL_SECONDS):
        known = recorded()
        if known is not None:
            asking.tell(known)
    watching = Watch(asking)
    try:
        answer = watching.part()
    except StoppedError:
        if asking.partial is not None:
            show(asking.partial, True)
        raise
    is_recorded = answer is asking.partial
    show(answer, is_recorded)
    if is_recorded:
        watching.stay(None)
