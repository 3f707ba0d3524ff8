"""The laboratory: runs plans on targets, and compares two runs decision by decision."""
