"""Rigid-body quantities of many frames at once, and the wrench that the contacts must supply."""
