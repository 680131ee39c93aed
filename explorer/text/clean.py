"""Foreign text made harmless for any face: what a scenario or a framework says is data, and shows
as what it is.
"""

import unicodedata

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that move the cursor, turn the direction of reading, or cannot be encoded."""


def clean(text: str, keep: str = "") -> str:
    """``text`` with every control and direction character spelled out (ESC as ``\\x1b``), save
    those in ``keep``.
    """
    characters = []
    for character in text:
        harmless = character in keep or unicodedata.category(character) not in UNSEEN
        characters.append(
            character if harmless else character.encode("unicode_escape").decode("ascii")
        )
    return "".join(characters)
