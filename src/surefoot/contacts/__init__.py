"""Stances found in a motion, and the support they give."""
