"""A claim in text: its evidence in one line, and what to do about it."""

from collections.abc import Iterable

from explorer.model.claim import ClaimRow, ClaimVerdict, Observation
from explorer.model.message import Message
from explorer.text.failures import typed
from explorer.text.language import _, later, shipped
from explorer.text.messages import one_line
from explorer.words import topics
from explorer.words.messages import DOMAIN, text
from explorer.words.parties import party_names

MEANINGS: dict[ClaimVerdict, str] = {
    "holds": later("true on the installed versions"),
    "holds_with_changes": later("true, but names or defaults have changed since"),
    "outdated": later("written of an older version, and not true on the installed ones"),
    "does_not_hold": later("not true on the installed versions"),
    "depends_on_style": later("true of graph or of tape, not of a framework"),
    "not_checkable_here": later("needs hardware that is not here"),
    "not_runnable_here": later("could not be run: the installed versions lack what it needs"),
    "not_judged": later("a measurement gave an answer that nobody has seen yet"),
}
"""What each verdict means."""

GUIDES = {
    "000": later("migration guide, typical differences from PyTorch (r2.0.0-alpha)"),
    "001": later("migration guide, building networks"),
    "002": later("migration guide, optimizers"),
    "003": later("a note on functional autodiff (2024)"),
    "004": later("migration guide, gradients (r2.0)"),
    "ours": later("no guide: the statement, or a part of it, is this project's own"),
}
"""The documents that the statements are taken from, by their numbers."""

ANY_ADVICE: dict[ClaimVerdict, str] = {
    "holds": later("The statement can be relied on."),
    "holds_with_changes": later("Use the names and defaults of the evidence."),
    "outdated": later("Do not rely on the statement: the evidence has what is true now."),
    "does_not_hold": later("Do not rely on the statement: the evidence has what was measured."),
    "depends_on_style": later("Check which style you use: the statement is true of one alone."),
    "not_checkable_here": later("Measure it where the hardware is."),
    "not_runnable_here": later(
        "Install what the evidence names, or measure it with other versions."
    ),
    "not_judged": later("Read what was measured: nothing is known to be said for it."),
}
"""What to do where nothing is known to be said for a verdict: on versions that nobody has looked at."""


def advice_text(row: ClaimRow) -> str:
    """What a reader should do; "" for a claim that could not be run."""
    if row.verdict is None:
        return ""
    if isinstance(row.advice, Message):
        return text(row.advice)
    known = topics.advice().get((row.id, row.advice or row.verdict))
    if known is None:
        known = row.advice or ANY_ADVICE[row.verdict]
        return _(known) if known in ANY_ADVICE.values() else shipped(known, DOMAIN)
    return shipped(known, DOMAIN)


def evidence_text(row: ClaimRow) -> str:
    """The evidence in one line, or why the claim could not be run."""
    if row.not_run:
        reasons = []
        for name, why in row.not_run.items():
            text = _("{what}: {values}")
            reasons.append(text.format(what=name, values=one_line(typed(why))))
        return _("could not be run: {reasons}").format(reasons=_("; ").join(reasons))
    return observations_text(row.observations)


def observations_text(observations: Iterable[Observation]) -> str:
    """Observations as one text: "weights: [1, 2] (MindSpore graph), [1, 3] (PyTorch tape); …".

    What was measured comes once with all its values, and each value with all who gave it.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for observation in observations:
        parties_by_value = found.setdefault(what_text(observation), {})
        parties_by_value.setdefault(text(observation.value), []).extend(observation.who)
    clauses = []
    for what, parties_by_value in found.items():
        values = [_value(value, parties) for value, parties in parties_by_value.items()]
        listed = _(", ").join(filter(None, values))
        clauses.append(_("{what}: {values}").format(what=what, values=listed) if listed else what)
    return _("; ").join(clauses)


def what_text(observation: Observation) -> str:
    """What was measured."""
    if isinstance(observation.what, str):
        return shipped(observation.what, DOMAIN)
    return text(observation.what)


def _value(value: str, parties: list[str]) -> str:
    """A value with those who gave it in brackets."""
    if not parties:
        return value
    template = _("{value} ({who})") if value else _("({who})")
    return template.format(value=value, who=party_names(parties))
