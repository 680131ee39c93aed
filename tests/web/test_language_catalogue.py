"""Every text that the app itself says is in its catalogue, and no other."""

from itertools import chain
from pathlib import Path

import msgspec
import pytest

from explorer.text import language
from explorer.text.language import DOMAIN, LANGUAGES
from explorer.web.recordings_page import EXAMPLE, REPORTS
from tests.support.app_texts import REFUSING, Text, bare_errors, every_key, modules, outside, said
from tests.support.catalogues import translations

NO_TEXTS = {
    REPORTS,
    EXAMPLE.strip(),
    *chain(*msgspec.toml.decode(Path(__file__).with_name("no_texts.toml").read_bytes()).values()),
}
"""Strings of the sources that read like prose, and are shown to nobody as they stand."""


@pytest.mark.slow
def test_no_text_of_the_app_stands_outside_the_catalogue() -> None:
    found: list[Text] = []
    for module in modules():
        found.extend(outside(module.name, module.read_text(encoding="utf-8")))
    assert [text for text in found if text.text.strip() not in NO_TEXTS] == []


@pytest.mark.parametrize(
    "source",
    [
        'st.caption("Nothing fits.")',
        'st.caption(f"{n} cases differ")',
        'bar.selectbox("Case", names)',
        'TITLES = {"a": "All of them"}',
        "st.html(\"<p title='x'>Nothing fits</p>\")",
        'st.info(_("{a} is") + "something else")',
    ],
)
def test_a_text_outside_the_catalogue_is_found(source: str) -> None:
    assert list(outside("planted.py", source))


@pytest.mark.parametrize(
    "source",
    [
        'st.caption(_("Nothing fits."))',
        'def f() -> "Some[int]":\n    """Nothing fits."""',
        'st.caption(f":material/icon: {name} **{count}**")',
        'Value = TypeVar("Value")\ndef value() -> "Value": ...',
        'st.html("<style>.some thing { color: red; }</style>")',
    ],
)
def test_what_is_no_text_of_the_app_is_left_alone(source: str) -> None:
    assert list(outside("planted.py", source)) == []


@pytest.mark.slow
def test_errors_are_in_the_catalogue() -> None:
    found: list[Text] = []
    for module in modules(REFUSING):
        found.extend(bare_errors(module.name, module.read_text(encoding="utf-8")))
    assert found == []


def test_an_error_outside_the_catalogue_is_found() -> None:
    sources = {
        'raise UsageError(f"{name!r} is given twice")': 1,
        'raise UsageError(_("{name!r} is given twice").format(name=name))': 0,
        'raise ImportError(f"cannot import name {name!r}")': 0,
    }
    for source, count in sources.items():
        assert len(list(bare_errors("planted.py", source))) == count


def test_texts_are_found_where_they_are_said() -> None:
    source = '_("one").format(a=1)\nTABLE = {"a": later("two" " three")}\nother("four")\n_(name)'
    assert sorted(said(source)) == ["one", "two three"]


@pytest.mark.slow
def test_every_text_is_translated_and_none_is_left_over() -> None:
    keys = every_key()
    assert sorted(keys - set(translations(DOMAIN))) == []
    assert sorted(set(translations(DOMAIN)) - keys) == []


def test_an_empty_text_is_empty_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    for code in LANGUAGES:
        monkeypatch.setattr(language, "_language", lambda code=code: code)
        assert language._("") == ""
