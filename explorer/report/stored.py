"""What the store holds, in words."""

KINDS = {
    "layout": "layouts of pictures",
    "scenario": "reports on scenarios",
    "reading": "what scenarios' files declare",
    "measurement": "measurements of studies and claims",
    "card": "cards of scenarios",
    "drawing": "drawings of the app's first page",
    "versions": "versions of the frameworks",
    "damaged": "damaged files, which are made again when they are asked for",
}
"""What the kinds of results are called."""
