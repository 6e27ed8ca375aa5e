"""Conversations that are kept in a database, and the summaries that keep their requests small."""
