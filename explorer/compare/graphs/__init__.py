"""A gradient graph as it is compared: what reads what, and in which layout its values lie."""
