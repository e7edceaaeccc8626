"""Generators, samples and journeys of API clients."""
