"""Words and numbers made readable for any face: names checked, foreign text made harmless, figures
shortened.
"""
