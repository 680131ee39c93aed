"""A small project of somebody who documents gradients."""

project = "Sample"
extensions = ["explorer.sphinx", "myst_parser"]
html_theme = "alabaster"
exclude_patterns = ["_build"]
