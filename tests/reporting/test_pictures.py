"""Pictures of executions, animated."""

from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET

import pytest

from alphanpi.environment.guard import Guard
from alphanpi.reporting.animation import Pace, film, svg
from alphanpi.reporting.colours import LIGHT
from alphanpi.reporting.execution import watch
from tests.helpers.runs import SORTING


@pytest.mark.parametrize(("disks", "seconds"), [("3", 60.0), ("7", 60.0), ("5", 7.0), ("6", 0.5)])
def test_a_picture_plays_no_longer_than_asked_for(hanoi, disks, seconds):
    reel = film(hanoi, "HANOI", disks, seconds)
    assert reel.seconds <= seconds + 1e-9
    assert reel.pace.move + reel.pace.pause >= 0.02
    assert (reel.pace == Pace()) == (disks == "3")
    assert ("one of" in reel.note) == (seconds == 0.5)
    ended = Guard(hanoi.environment).render(watch(hanoi, "HANOI", disks).execution.final)
    assert reel.scenes[-1] == ended
    picture = ET.fromstring(svg(reel, LIGHT, "HANOI"))
    durations = {float(one.get("dur", "0s")[:-1]) for one in picture.iter() if one.get("dur")}
    assert durations == {float(f"{reel.seconds:g}")}


def test_pictures_are_well_formed_and_end_where_the_run_does(run, tmp_path):
    file = tmp_path / "hanoi.svg"
    assert run("render", "pretrained:hanoi", "HANOI", 3, "-o", file)[0] == 0
    root = ET.fromstring(file.read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}title") == "HANOI on 3"
    moves = list(root.iter(f"{space}animateTransform"))
    assert moves
    for animation in [*moves, *root.iter(f"{space}animate")]:
        times = [float(time) for time in animation.get("keyTimes", "").split(";")]
        assert times == sorted(times)
        assert times[0] == 0
        assert len(times) == len(animation.get("values", "").split(";"))
    ends = [move.get("values", "").split(";")[-1] for move in moves]
    assert (
        len({float(end.split(",")[0]) + width / 2 for end, width in zip(ends[-3:], (48, 110, 172), strict=True)}) == 1
    )


def test_a_gif_needs_pillow(run, tmp_path, monkeypatch):
    file = tmp_path / "sort.gif"
    pytest.importorskip("PIL")
    assert run("render", SORTING, "BUBBLESORT", "2 1", "-o", file)[0] == 0
    assert file.read_bytes().startswith(b"GIF89a")
    original = builtins.__import__

    def without_pillow(name, *arguments, **options):
        if name.startswith(("PIL", "alphanpi.reporting.raster")):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    code, _, err = run("render", SORTING, "BUBBLESORT", "2 1", "-o", file)
    assert code == 2
    assert "need Pillow: pip install pillow" in err
