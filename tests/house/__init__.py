"""The house, measured: how large it is, how it reads, and whether two trees behave the same."""
