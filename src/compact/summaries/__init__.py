"""Summaries of what a conversation held."""
