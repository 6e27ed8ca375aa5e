"""How each action went, by what its result says, and whether it was mended later."""
