"""How the tables came to be what they are, step by step; a step that was published is never changed."""
