"""Tests, in folders named like the packages they test."""
