"""The gatekeeper on the hooks of other frameworks, one module each, and the selector that they share."""

from __future__ import annotations

from gatekeeper_hooks.native import NativeCall, NativeSelector

__all__ = ["NativeCall", "NativeSelector"]
