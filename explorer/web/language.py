"""The texts that the app itself says, in the visitor's language."""


def _(text: str) -> str:
    """A text in the visitor's language; English is the only one so far."""
    return text
