import { describe, expect, it } from "vitest";
import { layoutOf, size } from "./layout";
import { mostNodes, networkOf } from "./network";
import type { Around, Cited, Referring } from "./query";
import { walk } from "./walk";

const message = (hash: string): Cited => ({
  __typename: "Message",
  hash,
  sequence: 1,
  createdAt: "2026-01-01T00:00:00Z",
  content: "c",
  owner: { __typename: "Player", hash: "o", namespace: "PLY", key: "o", name: null },
});
const ref = (hash: string, position: number, target: Cited | null = message(hash)) => ({
  position,
  type: "CONTEXT" as const,
  hash,
  target,
});
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}${i}`);
const middle = (refs: Referring["refs"]): Referring => ({ ...message("m"), refs });

describe("networkOf", () => {
  it("links what was sent with what, and names what is not in the log", () => {
    const { nodes, edges, linked, drawn } = networkOf(middle([ref("a", 1, null)]), [message("z")], 1, null);
    expect(nodes.map((n) => [n.hash, n.kind, n.step, n.side])).toEqual([
      ["m", "message", 0, "middle"],
      ["a", "absent", 1, "before"],
      ["z", "message", 1, "after"],
    ]);
    expect(edges).toEqual([
      { from: "m", to: "a" },
      { from: "z", to: "m" },
    ]);
    expect([linked, drawn]).toEqual([2, 2]);
  });

  it("draws at most a hundred, in turns of both, and says of how many", () => {
    const refs = names("a", 200).map((h, i) => ref(h, i + 1));
    const { nodes, edges, linked, drawn } = networkOf(middle(refs), names("z", 100).map(message), 140, null);
    expect([nodes.length, drawn, linked]).toEqual([mostNodes, mostNodes - 1, 340]);
    expect(nodes.filter((n) => n.side === "after").length).toBe(49);
    expect(edges.length).toBe(99);
  });

  it("adds what is a step further, once, and says if there is more", () => {
    const near = {
      ...message("a"),
      refs: [ref("b", 1), ref("m", 2)],
      citedBy: { edges: [{ node: message("c") }], pageInfo: { hasNextPage: true } },
    };
    const around = { refs: [{ target: near }], citedBy: { edges: [] } } as unknown as Around;
    const { nodes, edges, further, more } = networkOf(middle([ref("a", 1), ref("b", 2)]), [], 0, around);
    expect(nodes.map((n) => `${n.hash} ${n.step}`)).toEqual(["m 0", "a 1", "b 1", "c 2"]);
    expect(edges).toContainEqual({ from: "a", to: "b" });
    expect(edges).toContainEqual({ from: "c", to: "a" });
    expect([further, more]).toEqual([1, true]);
  });
});

describe("layoutOf", () => {
  const refs = names("a", 60).map((h, i) => ref(h, i + 1));
  const network = networkOf(middle(refs), names("z", 60).map(message), 60, null);
  const layout = layoutOf(network);

  it("lays nothing over another, all of it inside, the same each time", () => {
    const at = [...layout.places.values()];
    expect(at.length).toBe(mostNodes);
    for (const [i, p] of at.entries()) {
      expect(p.x).toBeGreaterThan(size.width / 2);
      expect(p.x).toBeLessThan(layout.width - size.width / 2);
      expect(p.y).toBeLessThan(layout.height - size.height / 2);
      for (const q of at.slice(i + 1)) {
        expect(Math.abs(p.x - q.x) >= size.width || Math.abs(p.y - q.y) >= size.height).toBe(true);
      }
    }
    expect(layoutOf(network)).toEqual(layout);
  });

  it("puts what came before to the left, and what came after to the right", () => {
    const x = (hash: string) => layout.places.get(hash)?.x ?? Number.NaN;
    expect(x("a0")).toBeLessThan(x("m"));
    expect(x("z0")).toBeGreaterThan(x("m"));
  });
});

describe("walk", () => {
  const places = new Map([
    ["m", { x: 0, y: 0 }],
    ["near", { x: 50, y: 10 }],
    ["linked", { x: 200, y: 0 }],
    ["left", { x: -50, y: 0 }],
    ["up", { x: 10, y: -90 }],
  ]);
  const edges = [{ from: "m", to: "linked" }];
  it.each([
    ["ArrowRight", "linked"],
    ["ArrowLeft", "left"],
    ["ArrowUp", "up"],
    ["ArrowDown", null],
  ] as const)("%s leads to what is linked there, or else to the nearest", (arrow, want) => {
    expect(walk("m", arrow, places, edges)).toBe(want);
  });
});
