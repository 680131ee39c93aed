"""The names of the two styles in the texts of topics."""

from explorer.text.language import later

TEXTS = {
    "graph": later("graph"),
    "tape": later("tape"),
}
