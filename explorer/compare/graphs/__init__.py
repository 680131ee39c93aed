"""A gradient graph as it is compared: what reads what, its layout, which values are the same, its noise."""
