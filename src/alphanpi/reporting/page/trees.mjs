// Search trees as the page shows them: rows become nodes, some are open, and d3-hierarchy says where they go.

export function readDecision(decision, columns) {
  const edgeOf = (row) => Object.fromEntries(columns.edge_columns.map((name, place) => [name, row[place]]));
  return {
    ...decision,
    nodes: decision.nodes.map(([state, visits, value, edges]) => ({
      state,
      visits,
      value,
      edges: edges.map(edgeOf).map((edge) => ({ ...edge, failed: Boolean(edge.failed) })),
    })),
  };
}

// What stands in the place of a tree.
export const missingTree = (reason) => (reason === null ? "There is no tree here." : `There is no tree of this step: ${reason}.`);

// How much a search thinks.
export function effort({ simulations, called_simulations: called }) {
  const times = (number) => `${number.toLocaleString("en")} ${number === 1 ? "simulation" : "simulations"}`;
  return called === simulations ? `${times(simulations)} per action` : `${times(simulations)} per action, and ${called.toLocaleString("en")} in programs it calls,`;
}

const mostVisited = (edges) =>
  edges.reduce((best, edge) => (best === null || edge.visits > best.visits ? edge : best), null);

// The path the search thinks best: the action that was taken, then the most visited one of each node.
export function principalPath(decision) {
  const path = [];
  let node = 0;
  let edge = decision.nodes[0].edges.find((one) => one.action === decision.taken) ?? null;
  while (edge && edge.visits > 0) {
    path.push({ node, action: edge.action });
    if (edge.child === null) break;
    node = edge.child;
    edge = mostVisited(decision.nodes[node].edges);
  }
  return path;
}

// The most visited in the middle, so that the path through the tree is nearly straight.
export function centred(edges) {
  const order = [];
  [...edges].sort((a, b) => b.visits - a.visits).forEach((edge, place) => {
    if (place % 2) order.push(edge);
    else order.unshift(edge);
  });
  return order;
}

// A nested object per visited edge. `key` names a place in the tree: the actions that lead to it.
export function growTree(decision, open) {
  const best = new Set();
  let prefix = "";
  for (const { action } of principalPath(decision)) {
    prefix = `${prefix}/${action}`;
    best.add(prefix);
  }
  const grow = (number, key, edge) => {
    const node = number === null ? null : decision.nodes[number];
    const visited = node ? centred(node.edges.filter((one) => one.visits > 0)) : [];
    const isOpen = open(key, best.has(key) || key === "");
    return {
      key,
      edge,
      number,
      visits: edge ? edge.visits : decision.nodes[0].visits,
      chosen: key === "" || best.has(key),
      inside: visited.length,
      open: isOpen && visited.length > 0,
      children: isOpen ? visited.map((one) => grow(one.child, `${key}/${one.action}`, one)) : [],
    };
  };
  return grow(0, "", null);
}

// Places for all nodes, root on the left: [{item, x, y, parent}], and the size of the whole.
export function layoutTree(root, d3, { row, column }) {
  const laid = d3.tree().nodeSize([row, column]).separation(() => 1)(d3.hierarchy(root));
  const all = laid.descendants();
  const top = Math.min(...all.map((one) => one.x));
  const places = new Map(all.map((one) => [one, { item: one.data, x: one.y, y: one.x - top }]));
  for (const one of all) places.get(one).parent = one.parent ? places.get(one.parent) : null;
  const list = [...places.values()];
  return {
    places: list,
    width: Math.max(...list.map((place) => place.x)) + column,
    height: Math.max(...list.map((place) => place.y)) + row,
  };
}

// Where the arrow keys lead from a node.
export function neighbour(places, key, direction) {
  const here = places.find((place) => place.item.key === key);
  if (!here) return null;
  if (direction === "left") return here.parent;
  if (direction === "right") return places.find((place) => place.parent === here) ?? null;
  const column = places.filter((place) => place.x === here.x).sort((a, b) => a.y - b.y);
  return column[column.indexOf(here) + (direction === "up" ? -1 : 1)] ?? null;
}

// Steps of the run whose search would have done something else: [{step, choice, taken}].
export function disagreements(steps, searches) {
  const chosen = searches.map((search) => new Map(search.decisions.map((decision) => [decision.step, decision])));
  return steps.flatMap(({ search, decision: place }, step) => {
    const decision = search === null ? null : chosen[search].get(place);
    return decision && decision.choice !== decision.taken ? [{ step, choice: decision.choice, taken: decision.taken }] : [];
  });
}

// The one after a step, and after the last one the first.
export const nextDisagreement = (found, step) => found.find((one) => one.step > step) ?? found[0] ?? null;

// A state in so many letters: whole where it fits, otherwise the part that differs from the state before.
export function excerpt(text, before, room) {
  const flat = (words) => words.replace(/\s+/g, " ").trim();
  const [now, then] = [flat(text), flat(before ?? "")];
  if (now.length <= room) return now;
  let same = 0;
  while (same < now.length && now[same] === then[same]) same += 1;
  const from = same === now.length || !then ? 0 : Math.max(0, Math.min(same - Math.floor(room / 3), now.length - room + 1));
  const [head, tail] = [from > 0 ? "…" : "", from + room - (from > 0 ? 1 : 0) < now.length ? "…" : ""];
  return head + now.slice(from, from + room - head.length - tail.length) + tail;
}
