"""What is chosen in two graphs as their page's address says it, and back."""

from collections.abc import Iterable, Mapping

from explorer.web.pair_view import Only, ViewState

IN_VIEW = ("node", "step", "only", "follow", "opened", "folded")
"""Names in the address whose values are chosen in the drawings."""

FILTERS: tuple[Only, ...] = ("differs", "unpaired", "new")

MOST_MODULES = 200
"""Modules that an address may open or fold."""


def state_of(wanted: Mapping[str, str], revision: int, modules: Iterable[str]) -> ViewState:
    """The state that an address asks for; what it cannot mean is left out.

    ``modules`` are those that there are.
    """
    known = frozenset(modules)
    step = wanted.get("step", "")
    only = wanted.get("only", "")
    return ViewState(
        revision=revision,
        node=wanted.get("node", ""),
        step=int(step) if step.isdecimal() and len(step) < 8 else None,
        only=next((name for name in FILTERS if name == only), ""),
        follow=wanted.get("follow") != "off",
        opened=_modules(wanted.get("opened", ""), known),
        folded=_modules(wanted.get("folded", ""), known),
    )


def address_of(state: ViewState) -> dict[str, str]:
    """A state as an address; what is empty is as a page opens."""
    return {
        "node": state.node,
        "step": "" if state.step is None else str(state.step),
        "only": state.only,
        "follow": "" if state.follow else "off",
        "opened": ",".join(state.opened),
        "folded": ",".join(state.folded),
    }


def _modules(text: str, known: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(known.intersection(text.split(","))))[:MOST_MODULES]
