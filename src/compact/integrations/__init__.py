"""Ways in for those who use a framework: each module needs its own one, and none is loaded before it is asked for."""
