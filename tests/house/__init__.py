"""Measurements of the project: size, words, mutation tests, and the comparison of two trees."""
