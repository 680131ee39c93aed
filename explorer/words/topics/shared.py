"""The texts that several topics share: names of parties and styles, and sentences in a row."""

from typing import Final

from explorer.text.language import later
from explorer.words.topics import Template

TEXTS: Final[dict[str, Template]] = {
    "mindspore-graph": later("MindSpore, graph"),
    "mindspore-tape": later("MindSpore, tape"),
    "torch-graph": later("PyTorch, graph"),
    "torch-tape": later("PyTorch, tape"),
    "graph": later("graph"),
    "tape": later("tape"),
    "sentences": later("{first} {second}"),
}
