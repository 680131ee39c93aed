"""Random small nets, valid in several frameworks: run, checked, and reduced to what is wrong in them."""
