"""The layer-wise adversary paper: its tables and figures on any question data."""
