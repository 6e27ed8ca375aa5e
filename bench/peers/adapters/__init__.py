"""One module a peer: how a conversation gets into it, which of its ways are measured, and what comes out.

A module is run in the peer's environment (`python -m bench.peers.adapters.NAME WAY`), so it imports that peer and
`bench.peers.serving`, and nothing else of this project. Peers are imported by name: their types are not checked here,
because they are not installed where the checks run.
"""
