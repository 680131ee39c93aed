"""Who says the same: answers that are equal stand together."""

from collections.abc import Mapping
from typing import TypeVar

Answer = TypeVar("Answer")


def grouped(answers: Mapping[str, Answer]) -> list[tuple[list[str], Answer]]:
    """Each different answer, with all parties that gave it, in the order of the first of them."""
    groups: list[tuple[list[str], Answer]] = []
    for party, answer in answers.items():
        for parties, known_answer in groups:
            if known_answer == answer:
                parties.append(party)
                break
        else:
            groups.append(([party], answer))
    return groups
