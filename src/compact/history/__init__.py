"""What happened in a conversation: who said what, what was called, what came of it, and what replaced what."""
