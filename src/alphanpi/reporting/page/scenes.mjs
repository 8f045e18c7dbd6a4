// Pictures of states: reading them from the report, and what lies between two of them.

export function readShapes(columns, rows) {
  return rows.map((row) => Object.fromEntries(columns.map((name, place) => [name, row[place]])));
}

export const eased = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2);

const mixed = (a, b, t) => a + (b - a) * t;

// A shape with a `lift` goes up, across and down; each leg takes time by its length.
function travelled(from, to, t) {
  const sideways = Math.abs(to.x - from.x) > 0.5;
  if (!sideways || from.lift === null || from.lift === undefined) {
    return { x: mixed(from.x, to.x, t), y: mixed(from.y, to.y, t) };
  }
  const legs = [Math.abs(from.y - from.lift), Math.abs(to.x - from.x), Math.abs(to.y - from.lift)];
  let way = t * (legs[0] + legs[1] + legs[2]);
  if (way <= legs[0]) return { x: from.x, y: mixed(from.y, from.lift, legs[0] ? way / legs[0] : 1) };
  way -= legs[0];
  if (way <= legs[1]) return { x: mixed(from.x, to.x, legs[1] ? way / legs[1] : 1), y: from.lift };
  way -= legs[1];
  return { x: to.x, y: mixed(from.lift, to.y, legs[2] ? way / legs[2] : 1) };
}

// The shapes at time t from scene `before` to scene `after`; those in only one of them fade.
export function between(before, after, t) {
  if (t <= 0 || before === after) return before.map((shape) => ({ ...shape, opacity: 1 }));
  const target = new Map(after.map((shape) => [shape.id, shape]));
  const shapes = before.map((shape) => {
    const goal = target.get(shape.id);
    if (!goal) return { ...shape, opacity: 1 - t };
    target.delete(shape.id);
    const place = travelled(shape, goal, t);
    const label = t < 0.5 ? shape : goal;
    return {
      ...label,
      ...place,
      width: mixed(shape.width, goal.width, t),
      height: mixed(shape.height, goal.height, t),
      radius: mixed(shape.radius, goal.radius, t),
      tone: mixed(shape.tone, goal.tone, t),
      opacity: 1,
    };
  });
  return [...shapes, ...[...target.values()].map((shape) => ({ ...shape, opacity: t }))];
}

// What a picture has to show so that nothing of any scene is cut off: [x, y, width, height].
export function bounds(shapes, [width, height]) {
  let [left, top, right, bottom] = [0, 0, width, height];
  const cover = (x1, y1, x2, y2) => {
    left = Math.min(left, x1);
    top = Math.min(top, y1);
    right = Math.max(right, x2);
    bottom = Math.max(bottom, y2);
  };
  for (const shape of shapes) {
    const { kind, x, y, radius } = shape;
    if (kind === "circle") cover(x - radius, y - radius, x + radius, y + radius);
    else if (kind === "text") {
      const half = 0.31 * shape.height * shape.label.length; // a letter is about 0.6 of its height wide
      cover(x - half, y - 0.6 * shape.height, x + half, y + 0.6 * shape.height);
    } else cover(Math.min(x, x + shape.width), Math.min(y, y + shape.height), Math.max(x, x + shape.width), Math.max(y, y + shape.height));
  }
  return [left, top, right - left, bottom - top];
}

// The height of a shape's writing, so that it fits into the shape.
export function labelSize({ kind, width, height, radius, label }) {
  if (kind === "text") return height;
  const inside = kind === "circle" ? 2 * radius : width;
  return Math.min(18, (height || 2 * radius) * 0.62, kind === "line" ? 18 : inside / (0.62 * Math.max(1, label.length)));
}
