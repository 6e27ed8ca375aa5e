"""What the API takes and gives: models, one module a subject, and how they are made of Compact's own values."""
