"""Pictures of executions, animated."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

import alphanpi
from alphanpi.environment.guard import Guard
from alphanpi.environment.scene import Scene, circle, rectangle
from alphanpi.errors import UsageError
from alphanpi.reporting.animation import Film, Pace, film
from alphanpi.reporting.colours import DARK, LIGHT
from alphanpi.reporting.execution import watch
from alphanpi.reporting.layout import Appearance
from alphanpi.reporting.vector import svg
from tests.helpers.runs import SORTING

SPACE = "{http://www.w3.org/2000/svg}"
PLAIN = Appearance(None, "light", "")


@pytest.mark.parametrize(("disks", "seconds"), [("3", 60.0), ("7", 60.0), ("5", 7.0), ("6", 0.5)])
def test_a_picture_plays_no_longer_than_asked_for(hanoi, disks, seconds):
    reel = film(hanoi, "HANOI", disks, seconds)
    assert reel.seconds <= seconds + 1e-9
    assert reel.pace.move + reel.pace.pause >= 0.02
    assert (reel.pace == Pace()) == (disks == "3")
    assert ("one of" in reel.note) == (seconds == 0.5)
    ended = Guard(hanoi.environment).render(watch(hanoi, "HANOI", disks).execution.final)
    assert reel.scenes[-1] == ended
    picture = ET.fromstring(svg(reel, PLAIN.of(reel), "HANOI"))
    durations = {float(one.get("dur", "0s")[:-1]) for one in picture.iter() if one.get("dur")}
    assert durations == {float(f"{reel.seconds:g}")}


def test_eight_disks_fit_into_15_seconds_with_all_their_moves(hanoi):
    reel = film(hanoi, "HANOI", "8", 15.0)
    assert reel.seconds <= 15 + 1e-9
    assert len(reel.scenes) == 2**8
    assert "the 256 with a move are shown" in reel.note
    assert "one of" not in reel.note
    places = [{shape.id: shape.x for shape in scene.shapes if shape.style == "item"} for scene in reel.scenes]
    moved = [sum(before[name] != after[name] for name in before) for before, after in pairwise(places)]
    assert set(moved) == {1}


def test_where_hardly_any_item_moves_the_others_are_not_lost(hanoi, monkeypatch):
    """A marker that runs along still things: were only moves of things shown, there would be one picture."""

    def scene(state):
        return Scene(100, 20, (circle("still", 5, 5, 3, "item"), circle("runner", hash(state) % 97, 9, 2, "first")))

    monkeypatch.setattr(hanoi.guard, "render", scene)
    reel = film(hanoi, "HANOI", "8", 2.0)
    assert 25 <= len(reel.scenes) <= 51
    assert reel.seconds <= 2.0 + 1e-9


def test_pictures_are_well_formed_and_end_where_the_run_does(run, tmp_path):
    file = tmp_path / "hanoi.svg"
    outcome = run("render", "pretrained:hanoi", "HANOI", 3, "-o", file)
    assert outcome.code == 0
    assert outcome.out.startswith(f"wrote {file}, ")
    root = ET.fromstring(file.read_text())
    assert root.findtext(f"{SPACE}title") == "HANOI on 3"
    moves = list(root.iter(f"{SPACE}animateTransform"))
    assert moves
    for animation in [*moves, *root.iter(f"{SPACE}animate")]:
        times = [float(time) for time in animation.get("keyTimes", "").split(";")]
        assert times == sorted(times)
        assert times[0] == 0
        assert len(times) == len(animation.get("values", "").split(";"))
    ends = [move.get("values", "").split(";")[-1] for move in moves]
    assert (
        len({float(end.split(",")[0]) + width / 2 for end, width in zip(ends[-3:], (48, 110, 172), strict=True)}) == 1
    )


def test_themes_width_and_caption_of_an_svg(run, tmp_path):
    plain, other = tmp_path / "plain.svg", tmp_path / "other.svg"
    caption = "Three disks & 7 moves, " * 8
    arguments = ("render", "pretrained:hanoi", "HANOI", 3)
    assert run(*arguments, "-o", plain).code == 0
    assert run(*arguments, "-o", other, "--theme", "auto", "--width", 900, "--caption", caption).code == 0
    before, after = ET.fromstring(plain.read_text()), ET.fromstring(other.read_text())
    assert float(after.get("width", "")) == 900
    assert float(after.get("height", "")) > 900 * float(before.get("height", "")) / float(before.get("width", ""))
    groups = {group.get("class"): group for group in after if group.tag == f"{SPACE}g"}
    assert set(groups) == {"light", "dark"}
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        assert groups[name][0].get("fill") == palette.background
        lines = [text.text or "" for text in groups[name].iter(f"{SPACE}text") if text.get("fill") == palette.muted]
        written = [line for line in lines if len(line) > 3]
        assert " ".join(written) == caption.strip()
        assert len(written) > 1
    assert "prefers-color-scheme" in other.read_text()
    assert "prefers-color-scheme" not in plain.read_text()
    dark = alphanpi.render("pretrained:hanoi", out=tmp_path / "dark.svg", theme="dark")
    assert DARK.background in dark.file.read_text()
    assert LIGHT.background not in dark.file.read_text()


def test_dark_colours_can_be_told_apart():
    def light(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return float(0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2)

    def contrast(one: str, other: str) -> float:
        low, high = sorted((light(one), light(other)))
        return (high + 0.05) / (low + 0.05)

    for palette in (LIGHT, DARK):
        for colour in (palette.item_low, palette.item_high, palette.first, palette.second, palette.third):
            assert contrast(colour, palette.background) > 3
        for item in (palette.item_low, palette.item_high):
            assert contrast(palette.on_item, item) > 4
        for writing in (palette.text, palette.muted):
            assert contrast(writing, palette.background) > 4.5


def test_a_gif_needs_pillow(run, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    file = tmp_path / "sort.gif"
    options = ("--width", 301, "--theme", "dark", "--caption", "two")
    assert run("render", SORTING, "BUBBLESORT", "2 1", "-o", file, *options)[0] == 0
    assert file.read_bytes().startswith(b"GIF89a")
    with image.open(file) as picture:
        assert picture.size[0] == 301
        corner = picture.convert("RGB").getpixel((1, 1))
    assert max(abs(have - int(DARK.background[1 + 2 * at : 3 + 2 * at], 16)) for at, have in enumerate(corner)) < 8
    monkeypatch.setitem(sys.modules, "PIL", None)
    code, _, err = run("render", SORTING, "BUBBLESORT", "2 1", "-o", file)
    assert code == 2
    assert "a .gif needs Pillow: pip install pillow" in err


def fake_ffmpeg(folder: Path, script: str) -> str:
    """A program called ffmpeg, found first."""
    folder.mkdir()
    (folder / "ffmpeg").write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    (folder / "ffmpeg").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_an_mp4_is_made_by_ffmpeg(tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    script = "data = sys.stdin.buffer.read(); open(sys.argv[-1], 'wb').write(repr((sys.argv, len(data))).encode())"
    monkeypatch.setenv("PATH", fake_ffmpeg(tmp_path / "bin", script))
    told = []
    picture = alphanpi.render(
        "pretrained:hanoi",
        "HANOI",
        "2",
        tmp_path / "x.mp4",
        seconds=2,
        width=201,
        told=lambda done, total: told.append((done, total)),
    )
    arguments, length = eval(picture.file.read_text())
    width, height = map(int, arguments[arguments.index("-s") + 1].split("x"))
    assert width == 202
    assert height % 2 == 0
    assert length == 3 * width * height * round(30 * picture.seconds)
    assert told[-1] == (len(told) - 1, len(told))
    assert picture.seconds <= 2


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sys.stderr.write('first\\nno such codec\\n'); sys.exit(3)", r"ffmpeg failed \(3\): no such codec"),
        ("sys.stdin.buffer.read()", r"ffmpeg failed \(0\): it says nothing"),
    ],
)
def test_a_failing_ffmpeg_is_one_line_and_leaves_nothing(tmp_path, monkeypatch, script, message):
    pytest.importorskip("PIL")
    monkeypatch.setenv("PATH", fake_ffmpeg(tmp_path / "bin", script))
    with pytest.raises(UsageError, match=message):
        alphanpi.render("pretrained:hanoi", "HANOI", "2", tmp_path / "x.mp4", seconds=1, width=100)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_a_real_mp4_can_be_read(tmp_path):
    picture = alphanpi.render("pretrained:hanoi", "HANOI", "2", tmp_path / "x.mp4", seconds=2, width=200)
    assert picture.file.read_bytes()[4:8] == b"ftyp"
    subprocess.run(["ffmpeg", "-v", "error", "-i", picture.file, "-f", "null", "-"], check=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.mp4"], "an .mp4 needs ffmpeg, which is not on the PATH"),
        (["-o", "x.gif", "--theme", "auto"], "only an .svg follows the reader's system"),
        (["-o", "x.svg", "--width", "10"], "width 10: give a whole number from 50 to 4,000"),
        (["-o", "x.svg", "--theme", "blue"], "blue"),
        (["-o", "x.svg", "--caption", "a" * 1001], "a caption of 1,001 characters"),
    ],
)
def test_wrong_wishes_are_one_line(run, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = run("render", "pretrained:hanoi", "HANOI", 2, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_seen_at_a_moment_is_what_the_frames_show():
    scenes = [Scene(9, 9, (rectangle("box", x, 0, 1, 1, "item"),)) for x in (0, 4, 8)]
    reel = Film(9, 9, scenes, Pace(move=0.4, pause=0.1, end=0.5), "")
    assert reel.at(0) == reel.at(0.09) == scenes[0].shapes
    assert reel.at(0.3)[0].x == pytest.approx(2)
    assert reel.at(0.55) == scenes[1].shapes
    assert reel.at(1.01) == reel.at(99) == scenes[2].shapes
    frames = list(reel.frames())
    assert frames[0].shapes == scenes[0].shapes
    assert frames[-1] == (scenes[2].shapes, 500)
    assert sum(frame.milliseconds for frame in frames) == pytest.approx(1500, abs=30)
    assert io.StringIO(svg(reel, PLAIN.of(reel), "box")).read(4) == "<svg"


def test_shapes_that_come_and_go_and_labels_that_change_are_seen_when_they_are_there():
    def scene(number: int) -> Scene:
        counter = rectangle("counter", 0, 0, 9, 9, "item", label=str(number // 2))
        guest = circle("guest", 3, 3, 1, "first", label="g")
        return Scene(20, 20, (counter, guest) if number in (1, 3) else (counter,))

    reel = Film(20, 20, [scene(number) for number in range(5)], Pace(), "")
    picture = ET.fromstring(svg(reel, PLAIN.of(reel), "x"))

    def seen(element: ET.Element, moment: float, inherited: bool) -> bool:
        for animation in element.findall(f"{SPACE}animate"):
            if animation.get("attributeName") == "visibility":
                times = [float(time) * reel.seconds for time in animation.get("keyTimes", "").split(";")]
                values = animation.get("values", "").split(";")
                return [value for time, value in zip(times, values, strict=True) if time <= moment][-1] == "visible"
        return inherited

    for number in range(5):
        moment = reel.begins(number) + 0.01
        texts = [
            text.text
            for group in picture.findall(f"{SPACE}g")
            for text in group.findall(f"{SPACE}text")
            if seen(text, moment, seen(group, moment, True))
        ]
        assert sorted(filter(None, texts)) == sorted(shape.label for shape in scene(number).shapes)
