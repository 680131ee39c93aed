"""Every text that the app itself says is in its catalogue, and no other."""

import pytest

from explorer.text import language
from explorer.text.language import DOMAIN, LANGUAGES
from explorer.web.recordings_page import EXAMPLE, REPORTS
from tests.support.app_texts import (
    REFUSING,
    Text,
    bare_errors,
    every_key,
    modules,
    outside,
    said,
)
from tests.support.catalogues import translations

NO_TEXTS = {
    "value of code",  # kinds of names, which choose() says in the reader's language
    "selection of cases",
    "verdict on a case",
    'python -m pip install "pyarrow<26"',  # commands
    'python -m pip install "',
    "env remove",
    "a valid int",  # as Typer words it
    "a valid float",
    "Python",  # a name
    "bold red",  # a style of the terminal
    "None",  # Python's own
    "list index out of range",
    "grad(net, grad_position, weights, has_aux)",  # calls
    "value_and_grad(net, grad_position, weights, has_aux)",
    "GradOperation(get_all, get_by_list, sens_param)(net, weights)",
    "English",  # its own name, in every language
    "Autodiff semantics explorer",  # the app's name
    "page in sight",  # keys of the session
    "address of",
    "shown on",
    "page at",
    "language of the app",
    "language in the address",
    "what a table begins with on",
    REPORTS,
    EXAMPLE.strip(),  # code
    "scenario that studies began with",
    "revision of the graphs",
    "graphs in sight",
    "report as",
    "Depth",  # a name that drawing offers
    "net, backward",  # the name of a merged node in its record
    "Offset",  # a part of a chart's specification
    'class="marks chart" role="img" aria-label="',
    "Roboto",  # fonts
    "Roboto, Segoe UI, Helvetica, Arial, sans-serif",
    "Helvetica",
    ".group rect",  # selectors and classes of an SVG
    ".badge rect",
    ".badge text",
    ".unequal circle",
    ".unequal path",
    "forward alarm",
    "forward refuted",
    "forward idle",
    # parts of messages of Typer's and of the frameworks, which are looked for
    "a valid integer",
    "a valid number",
    r"Got unexpected extra argument\(s\) \((?P<value>.*)\)",
    r"Option (?P<value>'.*') requires an argument",
    r"Option (?P<value>'.*') does not take a value",
    r"Missing argument (?P<value>.*)",
    r"Missing option (?P<value>.*)",
    r"Missing command()",
    "does not require grad",
    "Data-dependent branching",
    "Only support integers, slices",
    "is null",
    "hardsigmoid_backward is not implemented",
    "explorer scenario FILE",  # commands
    "apt-get install chromium",
    "A random net",  # the title of a scenario that is run and deleted
    "Net",  # a name for MindSpore's dump
    "not started",  # a state of a worker, which words/ has a text for
    "at work",
    "not finite",  # a corner of a random net
    "don't yet support saved tensor hooks",  # part of an error of PyTorch's
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
