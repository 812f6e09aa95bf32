"""``smooth``: the smooth learning paper."""
