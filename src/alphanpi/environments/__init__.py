"""The paper's environments, one file each; adding one touches no other file."""
