"""Texts that are said once: what is said again is told by its place among them."""

from collections.abc import Iterable


class TextTable:
    """Different texts in the order in which they were first said."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def runs(self, texts: Iterable[str]) -> list[tuple[int, int]]:
        """Texts as runs of neighbours in the table: each run's first place, and how many there are."""
        runs: list[tuple[int, int]] = []
        for text in texts:
            place = self._place(text)
            if runs and sum(runs[-1]) == place:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((place, 1))
        return runs

    def _place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]
