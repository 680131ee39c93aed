"""The filters of the table of cases, chosen in a bar above it; the address says them too."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from streamlit.delta_generator import DeltaGenerator

from explorer.model.report import CaseReport, Report
from explorer.text.language import _, later
from explorer.web.bar import new_bar
from explorer.words import answers
from explorer.words.cases import VERDICTS

UNEXPECTED = later("unexpected")
"""A mark beside the verdict, and a filter like one."""

AUX = (later("with"), later("without"))

NO_WEIGHTS = later("none")

SEPARATOR = "; "
"""Stands between several choices in an address; a position such as (0, 1) has a comma of its own."""

NAMES = ("api", "position", "weights", "aux", "verdict", "words")
"""The names of the filters in an address, and the keys of their widgets."""


class Filters(msgspec.Struct, frozen=True):
    """The filters of the table; one that is empty lets every case pass."""

    apis: Sequence[str] = ()
    positions: Sequence[str] = ()
    weights: str = ""
    aux: str = ""
    verdicts: Sequence[str] = ()
    words: str = ""

    def fit(self, case: CaseReport) -> bool:
        """Whether a case passes all filters."""
        asked = case.case
        return (
            _is_among(asked.api, self.apis)
            and _is_among(position_of(case), self.positions)
            and self.weights in ("", asked.weights or NO_WEIGHTS)
            and (not self.aux or asked.has_aux == (self.aux == "with"))
            and (not self.verdicts or not set(marks_of(case)).isdisjoint(self.verdicts))
            and self._fits_words(case)
        )

    def _fits_words(self, case: CaseReport) -> bool:
        """Every word must stand in the case's names, in an answer, or in how one nests."""
        said = [answers.answer(result) + result.written for result in case.results.values()]
        text = " ".join((case.case.label, case.case.short, *said)).casefold()
        return all(word in text for word in self.words.casefold().split())

    def address(self) -> dict[str, str]:
        """The filters as an address says them."""
        return {
            "api": SEPARATOR.join(self.apis),
            "position": SEPARATOR.join(self.positions),
            "weights": self.weights,
            "aux": self.aux,
            "verdict": SEPARATOR.join(self.verdicts),
            "words": self.words,
        }


def _is_among(text: str, chosen: Sequence[str]) -> bool:
    return not chosen or text in chosen


def position_of(case: CaseReport) -> str:
    """A case's ``grad_position`` as Python writes it."""
    return str(case.case.grad_position)


def marks_of(case: CaseReport) -> list[str]:
    """The verdict, and that it is unexpected."""
    verdict = VERDICTS[case.verdict]
    return [verdict] if case.expected else [verdict, UNEXPECTED]


def choose_filters(report: Report, wanted: Mapping[str, str]) -> Filters:
    """The filters that the bar asks for; it starts from those that an address wants."""
    apis = dict.fromkeys(case.case.api for case in report.cases)
    positions = dict.fromkeys(map(position_of, report.cases))
    weights = dict.fromkeys(case.case.weights or NO_WEIGHTS for case in report.cases)
    verdicts = dict.fromkeys(mark for case in report.cases for mark in marks_of(case))
    bar = _Bar(new_bar("filters"), wanted)
    return Filters(
        apis=bar.several(_("API"), "api", apis, 160),
        positions=bar.several(_("Position"), "position", positions, 140),
        weights=bar.one(_("Weights"), "weights", weights, _weights_label),
        aux=bar.one("has_aux", "aux", AUX, _),
        verdicts=bar.several(_("Verdict"), "verdict", verdicts, 180),
        words=bar.words(_("Search"), "words", _("dx, weights=all, ValueError …")),
    )


def _weights_label(name: str) -> str:
    # "one" and "all" are what the call says, as the table shows it.
    return _(name) if name == NO_WEIGHTS else name


class _Bar:
    """Widgets beside each other, each of which begins with what the address wants of it."""

    def __init__(self, box: DeltaGenerator, wanted: Mapping[str, str]) -> None:
        self._box = box
        self._wanted = wanted

    def several(self, label: str, name: str, options: Iterable[str], width: int) -> tuple[str, ...]:
        """Any number of options."""
        all_options = list(options)
        asked = self._wanted.get(name, "").split(SEPARATOR)
        first = [option for option in all_options if option in asked]
        chosen = self._box.multiselect(
            label,
            all_options,
            first,
            key=name,
            placeholder=_("all"),
            width=width,
            format_func=_,
        )
        return tuple(chosen)

    def one(
        self, label: str, name: str, options: Iterable[str], called: Callable[[str], str]
    ) -> str:
        """One option or none; ``called`` says what an option is called."""
        all_options = list(options)
        asked = self._wanted.get(name)
        index = all_options.index(asked) if asked in all_options else None
        chosen = self._box.selectbox(
            label,
            all_options,
            index=index,
            key=name,
            placeholder=_("any"),
            width=105,
            format_func=called,
        )
        return chosen or ""

    def words(self, label: str, name: str, placeholder: str) -> str:
        """Words to search for."""
        first = self._wanted.get(name, "")
        return self._box.text_input(label, first, key=name, placeholder=placeholder, width=190)
