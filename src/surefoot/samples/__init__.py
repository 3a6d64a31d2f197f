"""Bundled human clips and the generator that makes them."""
