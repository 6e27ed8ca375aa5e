"""Summaries written without a model, of the conversation's own words."""
