"""What ``bridge`` is worth: what each ingredient gives, and whether its scores mean what they say."""
