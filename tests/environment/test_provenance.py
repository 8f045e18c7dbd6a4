"""Which files an environment's source consists of."""

from __future__ import annotations

import sys

import pytest

from alphanpi import make
from alphanpi.environment.provenance import class_sources, digest, file_sources, module_sources


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "package").mkdir()
    for name, text in {
        "env.py": "import helper\nfrom package.part import thing\nimport numpy\n\ndef late():\n    import lazy\n",
        "helper.py": "import other, env\n",
        "other.py": "",
        "lazy.py": "def broken(:\n",
        "unused.py": "",
        "package/__init__.py": "",
        "package/part.py": "from . import sibling\nfrom .. import too_far\n",
        "package/sibling.py": "",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def names(files, folder):
    return {str(file.relative_to(folder.resolve())) for file in files}


def test_the_sources_of_a_file_are_what_it_imports_from_its_folder(folder):
    found = names(file_sources(folder / "env.py"), folder)
    assert found == {
        "env.py", "helper.py", "other.py", "lazy.py", "package/__init__.py", "package/part.py", "package/sibling.py"
    }  # fmt: skip


def test_a_change_of_a_neighbour_changes_the_digest_and_one_of_a_stranger_does_not(folder):
    before = digest(file_sources(folder / "env.py"))
    (folder / "unused.py").write_text("x = 1\n")
    assert digest(file_sources(folder / "env.py")) == before
    (folder / "package/sibling.py").write_text("x = 1\n")
    assert digest(file_sources(folder / "env.py")) != before


def test_finding_the_sources_of_a_module_imports_nothing(folder, monkeypatch):
    (folder / "package/__init__.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(folder))
    found = names(module_sources("package.part"), folder)
    assert found == {"package/__init__.py", "package/part.py", "package/sibling.py"}
    assert "package" not in sys.modules
    assert module_sources("no_such_package.part") == ()


def test_a_built_in_environment_consists_of_environment_files_alone():
    files = class_sources(type(make("recursive-sorting")))
    assert {"recursive_sorting.py", "lists.py"} <= {file.name for file in files}
    assert {file.parent.name for file in files} == {"environments"}


def test_a_neighbour_may_be_a_link_to_another_folder(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "real.py"
    elsewhere.write_text("")
    (folder / "helper.py").unlink()
    (folder / "helper.py").symlink_to(elsewhere)
    assert "helper.py" in names(file_sources(folder / "env.py"), folder)
