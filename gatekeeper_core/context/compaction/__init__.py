"""A conversation made smaller: rounds of tool use folded, long texts cut."""
