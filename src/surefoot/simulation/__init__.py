"""The physics that judges a clip: does the robot stand when it tries to follow it."""
