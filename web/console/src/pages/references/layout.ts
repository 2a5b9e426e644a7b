import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import type { Network, Node } from "./network";

/** Where a node stands, in pixels from the upper left corner. */
export type Place = { x: number; y: number };

/** Where everything stands, and how much room that takes. */
export type Layout = { places: ReadonlyMap<string, Place>; width: number; height: number };

/** The room of a node, in pixels. */
export const size = { width: 136, height: 44 };

const steps = 300; // as many as d3 itself takes until it stands still

/**
 * Puts what is older to the left and what is younger to the right, the linked near each other, nothing on top of
 * another. All at once, so that nothing moves on the screen; the same for the same network.
 */
export function layoutOf({ nodes, edges }: Pick<Network, "nodes" | "edges">): Layout {
  type Moving = SimulationNodeDatum & { node: Node };
  const moving: Moving[] = nodes.map((node) => (node.step === 0 ? { node, fx: 0, fy: 0 } : { node }));
  const byHash = new Map(moving.map((m) => [m.node.hash, m]));
  const links = edges.flatMap((e): SimulationLinkDatum<Moving>[] => {
    const [source, target] = [byHash.get(e.from), byHash.get(e.to)];
    return source && target ? [{ source, target }] : [];
  });
  const column = ({ node }: Moving) => (node.side === "before" ? -1 : node.side === "after" ? 1 : 0) * node.step * 210;
  forceSimulation(moving)
    .force("link", forceLink(links).distance(170).strength(0.2))
    .force("charge", forceManyBody().strength(-160))
    .force("x", forceX(column).strength(0.35))
    .force("y", forceY(0).strength(0.05))
    // Wider than high: half of a node's width would keep the columns too far apart.
    .force("apart", forceCollide(size.height * 0.9).iterations(3))
    .stop()
    .tick(steps);
  return boxed(spread(moving.map((m) => ({ hash: m.node.hash, x: m.x ?? 0, y: m.y ?? 0 }))));
}

type Placed = Place & { hash: string };

// Moves down whatever still covers another: the force above knows circles only.
function spread(placed: Placed[]): Placed[] {
  const done: Placed[] = [];
  for (const p of placed.toSorted((a, b) => a.y - b.y)) {
    for (;;) {
      const under = done.find((q) => Math.abs(q.x - p.x) < size.width + 8 && Math.abs(q.y - p.y) < size.height + 8);
      if (!under) break;
      p.y = under.y + size.height + 9; // a pixel more than is asked for: sums of fractions are not exact
    }
    done.push(p);
  }
  return done;
}

function boxed(placed: readonly Placed[]): Layout {
  const margin = 16;
  const left = Math.min(...placed.map((p) => p.x)) - size.width / 2 - margin;
  const top = Math.min(...placed.map((p) => p.y)) - size.height / 2 - margin;
  return {
    places: new Map(placed.map((p) => [p.hash, { x: p.x - left, y: p.y - top }])),
    width: Math.max(...placed.map((p) => p.x)) - left + size.width / 2 + margin,
    height: Math.max(...placed.map((p) => p.y)) - top + size.height / 2 + margin,
  };
}
