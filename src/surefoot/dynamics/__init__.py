"""Batched rigid-body quantities and the wrench that a motion requires."""
