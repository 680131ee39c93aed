"""Every catalogue is compiled as it is written, and a text in Chinese has the same code and places."""

import gettext
import re
from string import Formatter

import pytest

from explorer.text.language import LOCALE
from tests.support.catalogues import DOMAINS, Entry, entries

CHINESE = re.compile("[一-鿿]")

every_catalogue = pytest.mark.parametrize("domain", DOMAINS)


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def code_spans(text: str) -> list[str]:
    return sorted(re.findall(r"`[^`]*`", text))


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:\.\d+)?", text))


@every_catalogue
def test_what_is_compiled_is_what_is_written(domain: str) -> None:
    compiled = gettext.translation(domain, LOCALE, ["zh"])

    def found(entry: Entry) -> str:
        if entry.context:
            return compiled.pgettext(entry.context, entry.english[0])
        if len(entry.english) > 1:
            return compiled.ngettext(entry.english[0], entry.english[1], 1)
        return compiled.gettext(entry.english[0])

    assert [entry for entry in entries(domain) if entry.is_doubtful] == []
    for entry in entries(domain):
        assert found(entry) == entry.chinese, "run `make catalogue`"


@every_catalogue
def test_a_text_in_chinese_has_the_same_code_and_places(domain: str) -> None:
    assert len(entries(domain)) > 100
    for entry in entries(domain):
        assert entry.chinese.strip(), entry
        for english in entry.english:
            if domain != "scenarios":  # whose texts have braces of code
                assert places(entry.chinese) == places(english), entry
            assert code_spans(entry.chinese) == code_spans(english), entry
        if domain == "topics":
            assert numbers(entry.chinese) == numbers(entry.english[0]), entry
        if domain == "scenarios":
            assert CHINESE.search(entry.chinese), entry
