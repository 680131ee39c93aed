"""The names of parties in text: "MindSpore graph and tape, PyTorch tape", in the reader's language."""

from collections.abc import Iterable

from explorer.model.engines import ENGINES, FRAMEWORK_LABELS
from explorer.text.language import _, later
from explorer.topics.question import PARTIES
from explorer.words.lists import listed

WITH_STYLES = {
    (): "{framework}",
    ("graph",): later("{framework} graph"),
    ("tape",): later("{framework} tape"),
    ("graph", "tape"): later("{framework} graph and tape"),
    ("tape", "graph"): later("{framework} tape and graph"),
}
"""A framework with the styles that are named of it."""


def party_names(parties: Iterable[str]) -> str:
    """The names of parties in the order of PARTIES, each framework once with its styles.

    Raises KeyError for what is not in PARTIES.
    """
    styles_by_name: dict[str, list[str]] = {}
    ranks = {party: rank for rank, party in enumerate(PARTIES)}
    for party in sorted(parties, key=lambda party: ranks[party]):
        engine = ENGINES.get(party)
        name = FRAMEWORK_LABELS[engine.framework] if engine else PARTIES[party].label
        styles = styles_by_name.setdefault(name, [])
        if engine and engine.style not in styles:
            styles.append(engine.style)
    names = [
        _(WITH_STYLES[tuple(styles)]).format(framework=name)
        for name, styles in styles_by_name.items()
    ]
    has_both_styles = any(len(styles) > 1 for styles in styles_by_name.values())
    return listed(names, "," if has_both_styles else "")
