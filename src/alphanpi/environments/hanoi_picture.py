"""The picture of the Tower of Hanoi."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, Shape, Style, rectangle, text

PILLARS = "ABC"
ROLES: tuple[tuple[str, Style], ...] = (("source", "first"), ("auxiliary", "second"), ("target", "third"))

_WIDTH, _PITCH = 600.0, 200.0
_TOP, _TRAVEL = 64.0, 26.0  # of the pillars, and of a disk on its way
_BASE = 300.0
_NARROWEST, _WIDEST = 48.0, 172.0


def picture(position: tuple[int, ...], roles: tuple[int, int, int], disks: int) -> Scene:
    """Pillars, disks and roles; disks that are not part of the current game are faded."""
    count = len(position)
    thickness = min(30.0, (_BASE - _TOP - 20.0) / count)
    shapes = [rectangle("base", 8, _BASE, _WIDTH - 16, 8, radius=4)]
    for pillar, name in enumerate(PILLARS):
        middle = _middle(pillar)
        shapes.append(rectangle(f"pillar-{name}", middle - 4, _TOP, 8, _BASE - _TOP, radius=4))
        shapes.append(text(f"name-{name}", middle, _BASE + 27, name, 18, "muted"))
    for role, (name, style) in enumerate(ROLES):
        shapes.append(
            rectangle(f"role-{name}", _middle(roles[role]) - 58, _BASE + 46, 116, 32, style, radius=16, label=name)
        )
    shapes += [_disk(disk, position, disks, thickness) for disk in range(count)]
    return Scene(_WIDTH, _BASE + 88, tuple(shapes))


def _disk(disk: int, position: tuple[int, ...], disks: int, thickness: float) -> Shape:
    count = len(position)
    share = disk / max(1, count - 1)
    width = _WIDEST if count == 1 else _NARROWEST + share * (_WIDEST - _NARROWEST)
    below = sum(place == position[disk] for place in position[disk + 1 :])
    return rectangle(
        f"disk-{disk + 1}",
        _middle(position[disk]) - width / 2,
        _BASE - (below + 1) * thickness,
        width,
        thickness - 2,
        "item",
        radius=min(10.0, thickness / 2 - 1),
        label=str(disk + 1) if thickness >= 14 else "",
        tone=share,
        faded=disk >= disks,
        lift=_TRAVEL,
    )


def _middle(pillar: int) -> float:
    return _PITCH * (pillar + 0.5)
