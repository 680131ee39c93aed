"""Results as a person or a program reads them: blocks of a page, and JSON documents.

The kinds are the report on a scenario, the difference of two graphs, a study, the board of
claims, a sweep, and the doctor's checks. ``explorer.blocks`` lays blocks out in each format.
"""
