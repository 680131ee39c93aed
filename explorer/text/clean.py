"""Foreign text made harmless: what a scenario or a framework says is data, and is shown as such."""

import unicodedata

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that move the cursor, turn the direction of reading, or cannot be encoded."""


def clean(text: str, keep: str = "") -> str:
    """``text`` with control and direction characters spelled out, save those in ``keep``.

    ESC becomes ``\\x1b``.
    """
    characters = []
    for character in text:
        shown = character
        if character not in keep and unicodedata.category(character) in UNSEEN:
            shown = character.encode("unicode_escape").decode("ascii")
        characters.append(shown)
    return "".join(characters)
