"""Tests of the embedded PostgreSQL: real servers, processes and users."""
