"""One framework's net with attributes of its own, as a port has them whose author chose the names."""

import re
from itertools import count

from explorer.model.engines import Framework
from tests.planted.mistake import span

TREES = ("oak", "elm", "ash", "yew", "fir", "lime", "alder", "birch", "hazel", "maple", "rowan")
"""Names that say nothing of what a layer does."""

HELD = re.compile(r"\bself\.(\w+) = (?:nn\.|ms\.)?(?:Parameter|[A-Z]\w+)\(")
"""What is a layer, or a parameter, of the module whose attribute it is."""


def with_own_names(text: str, framework: Framework) -> str:
    """The text of a scenario in which the layers of one framework's net are called by trees' names."""
    start, end = span(text, f"{framework}_net")
    net = text[start:end]
    trees = (f"{tree}{turn or ''}" for turn in count() for tree in TREES)
    names = dict(zip(dict.fromkeys(HELD.findall(net)), trees, strict=False))
    for name, tree in names.items():
        net = re.sub(rf"\bself\.{name}\b", f"self.{tree}", net)
    return text[:start] + net + text[end:]
