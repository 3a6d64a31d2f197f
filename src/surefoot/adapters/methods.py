"""The table of methods that mend a clip; strings alone, so that listing them imports none."""

METHODS: dict[str, tuple[str, str]] = {
    "warp": (
        "surefoot.adapters.warp:adapt",
        "other times for the frames, as the paper searches them: same poses, same duration",
    ),
    "warp-optimal": (
        "surefoot.adapters.warp_optimal:adapt",
        "the best times that there are, with a proof of how good any can be",
    ),
}
"""All methods by name: module:function, and one line of help."""
