"""Pictures of a document: what is asked of the API for them, and a file's name for each."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.documents import contents as documents
from explorer.documents.contents import Way, contents, file_name
from explorer.documents.directives import KINDS, SHARED, Directive

DRAWN = {
    "gradient-graph": {
        "engines": "torch-graph",
        "case": "grad(net, 1)",
        "view": "flow",
        "depth": "2",
        "stage": "optimize",
        "device": "cuda:0",
    },
    "gradient-diff": {
        "engines": "mindspore-tape, torch-tape",
        "case": "grad(net, 1)",
        "device": "cuda:0",
    },
}
"""A value, other than the default, of each option on which a picture depends."""

PICTURES = [(kind, name) for kind, options in DRAWN.items() for name in options]


class AskedError(Exception):
    """What a function of the API was called with."""

    def __init__(self, subject: str, *engines: str, **options: Any) -> None:
        super().__init__(subject)
        self.engines = engines
        self.options = options


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Directive], AskedError]:
    """What a directive asks of the API."""

    def raising(*arguments: Any, **options: Any) -> None:
        raise AskedError(*arguments, **options)

    for name in ("graph", "diff"):
        monkeypatch.setattr(documents, name, raising)

    def of(shown: Directive) -> AskedError:
        with pytest.raises(AskedError) as caught:
            contents(shown, Way(fresh=True))
        return caught.value

    return of


@pytest.mark.parametrize("kind", DRAWN)
def test_these_are_all_options_on_which_a_picture_depends(kind: str) -> None:
    assert sorted(DRAWN[kind]) == sorted(set(KINDS[kind]) - set(SHARED))


@pytest.mark.parametrize(("kind", "name"), PICTURES)
def test_an_option_changes_what_is_asked_for(
    kind: str, name: str, asked: Callable[[Directive], AskedError]
) -> None:
    value = DRAWN[kind][name]
    default = asked(Directive(kind, "dense_mse", {}))
    chosen = asked(Directive(kind, "dense_mse", {name: value}))
    assert default.options["fresh"] is chosen.options["fresh"] is True
    if name == "engines":
        assert chosen.engines == tuple(value.split(", ")) != default.engines
    else:
        assert str(chosen.options[name]) == value != str(default.options[name])
        assert chosen.engines == default.engines


@pytest.mark.parametrize(("kind", "name"), PICTURES)
def test_pictures_that_differ_are_files_of_their_own(kind: str, name: str) -> None:
    default = file_name(Directive(kind, "dense_mse", {}))
    chosen = file_name(Directive(kind, "dense_mse", {name: DRAWN[kind][name]}))
    assert chosen != default
    assert chosen.replace("-", "").replace("_", "").isalnum()
    assert file_name(Directive(kind, "dense_mse", {"caption": "A net", "alt": "a net"})) == default
