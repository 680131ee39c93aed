"""A small project of somebody who documents gradients."""

project = "Sample"
extensions = ["explorer.sphinx", "myst_parser"]
html_theme = "alabaster"
show_warning_types = True  # the kind, by which one may be kept silent
exclude_patterns = ["_build"]
