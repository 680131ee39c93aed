"""IR that MindSpore printed: samples as they are, and programs of all nets by version."""
