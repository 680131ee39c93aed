"""What scenarios say of themselves, in the reader's language: titles, notes and reasons.

The catalogue has the texts of the shipped scenarios; others are as their files have them.
"""

from explorer.text.language import _, later, shipped

BETWEEN_REASONS = later("; ")
"""What separates the reasons of a case that has several."""

BETWEEN_PARAGRAPHS = "\n\n"


def said(text: str) -> str:
    """A title, a paragraph of notes or a reason in the reader's language."""
    # A paragraph may be wrapped at any width: the catalogue has it in one line.
    message = " ".join(text.split())
    translation = shipped(message, "scenarios")
    return text if translation == message else translation


def said_notes(notes: str) -> str:
    """Notes in the reader's language, paragraph by paragraph; the others stay as they are."""
    return BETWEEN_PARAGRAPHS.join(map(said, notes.split(BETWEEN_PARAGRAPHS)))


def said_reasons(reasons: str) -> str:
    """The joined reasons of a case in the reader's language."""
    # A reason may contain the separator: the longest text that the catalogue has is a reason.
    rest, texts = reasons.split(BETWEEN_REASONS), []
    while rest:
        count = next((n for n in range(len(rest), 0, -1) if _is_known(rest[:n])), 1)
        texts.append(said(BETWEEN_REASONS.join(rest[:count])))
        rest = rest[count:]
    # Where nothing is translated, the separator may be a part of a text, and stays.
    if BETWEEN_REASONS.join(texts) == reasons:
        return reasons
    return _(BETWEEN_REASONS).join(texts)


def _is_known(parts: list[str]) -> bool:
    text = BETWEEN_REASONS.join(parts)
    return said(text) != text
