"""Random small nets, valid in both frameworks: asked, judged, and cut down to what is wrong in them."""
