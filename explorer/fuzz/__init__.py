"""Random small nets, valid in both frameworks: run, checked, and reduced to what is wrong in them."""
