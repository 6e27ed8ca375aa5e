"""Runs real clients against a scripted model, with and without the gateway, and keeps the shapes of their requests."""
