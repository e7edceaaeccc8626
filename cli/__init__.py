"""The command line `accounting`: serve, migrate, prove, and fill a demo business."""
