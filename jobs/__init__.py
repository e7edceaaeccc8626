"""Work that no request starts. It calls handlers, rules and stores, never HTTP."""
