"""The motion feasibility index: can the contacts give what the motion needs, and by how much."""
