"""Controllers: what drives a robot along a reference, and what it knows of balance."""
