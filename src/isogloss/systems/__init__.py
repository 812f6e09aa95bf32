"""The registry, and one small file a system that puts its parts together."""

from isogloss.systems.registry import make_system, system_names, system_type

__all__ = ["make_system", "system_names", "system_type"]
