"""What a page shows as plain records, and a renderer of them for each format.

``records`` has the blocks. ``terminal``, ``html`` (pages, notebooks and documents) and
``markdown`` lay them out; each escapes and cleans every text, so nobody else does.
"""
