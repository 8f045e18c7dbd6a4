"""Versions of the packages in use."""

from __future__ import annotations

import numpy as np

from alphanpi.support.versions import versions


def test_a_package_that_is_not_installed_has_no_version_and_does_no_harm():
    assert versions(["numpy", "no-such-package"]) == {"numpy": np.__version__, "no-such-package": "unknown"}
