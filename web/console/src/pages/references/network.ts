import type { Around, Cited, Referring } from "./query";

/** The most that is drawn at once. */
export const mostNodes = 100;

/** What a node stands for. */
export type Kind = "message" | "ACCOUNTANT" | "SECRETARY" | "absent";

/** A message or record; step: how many refs it is away from the middle, at most 2. */
export type Node = {
  hash: string;
  kind: Kind;
  /** A message's number in its session, and who sent it. */
  sequence: number | null;
  owner: { hash: string; name: string | null; key: string | null } | null;
  /** A record's title. */
  title: string | null;
  at: string | null;
  step: 0 | 1 | 2;
  /** Whether it is older than the middle, as what was sent with it, or younger. */
  side: "middle" | "before" | "after";
};

/** from was sent with to. */
export type Edge = { from: string; to: string };

/** What is drawn, and of how much. */
export type Network = {
  nodes: Node[];
  edges: Edge[];
  /** How many messages and records the middle is linked with, and how many of them are drawn. */
  linked: number;
  drawn: number;
  /** How many are drawn that are a step further, and whether there are more of those. */
  further: number;
  more: boolean;
};

type Where = Pick<Node, "step" | "side">;

function nodeOf(hash: string, target: unknown, where: Where): Node {
  const of = target as Partial<Cited & { kind: "ACCOUNTANT" | "SECRETARY"; title: string }> | null;
  const none = { sequence: null, owner: null, title: null, at: of?.createdAt ?? null };
  if (of?.__typename === "Message")
    return { hash, kind: "message", ...none, sequence: of.sequence ?? null, owner: of.owner ?? null, ...where };
  if (of?.kind) return { hash, kind: of.kind, ...none, title: of.title ?? null, ...where };
  return { hash, kind: "absent", ...none, ...where };
}

/**
 * The message in the middle, what it was sent with and what was sent with it, in turns, and then what is a step
 * further: at most mostNodes of all.
 */
export function networkOf(
  middle: Referring,
  cited: readonly Cited[],
  citedCount: number,
  around: Around | null,
): Network {
  const nodes = new Map<string, Node>([[middle.hash, nodeOf(middle.hash, middle, { step: 0, side: "middle" })]]);
  const edges = new Map<string, Edge>();
  let left = false; // whether anything found no room
  const add = (hash: string, target: unknown, where: Where, edge: Edge) => {
    if (!nodes.has(hash) && nodes.size >= mostNodes) {
      left = true;
      return;
    }
    if (!nodes.has(hash)) nodes.set(hash, nodeOf(hash, target, where));
    edges.set(`${edge.from} ${edge.to}`, edge);
  };
  for (let i = 0; i < Math.max(middle.refs.length, cited.length); i++) {
    const ref = middle.refs[i];
    if (ref) add(ref.hash, ref.target, { step: 1, side: "before" }, { from: middle.hash, to: ref.hash });
    const later = cited[i];
    if (later) add(later.hash, later, { step: 1, side: "after" }, { from: later.hash, to: middle.hash });
  }
  const drawn = nodes.size - 1;
  left = false;
  const near = [
    ...(around?.refs.map((r) => ({ of: r.target, side: "before" as const })) ?? []),
    ...(around?.citedBy.edges.map((e) => ({ of: e.node, side: "after" as const })) ?? []),
  ];
  for (const { of, side } of near) {
    if (!of || !("refs" in of)) continue;
    for (const ref of of.refs) add(ref.hash, ref.target, { step: 2, side }, { from: of.hash, to: ref.hash });
    for (const { node } of of.citedBy.edges) add(node.hash, node, { step: 2, side }, { from: node.hash, to: of.hash });
    left ||= of.citedBy.pageInfo.hasNextPage;
  }
  const shown = [...nodes.values()];
  return {
    nodes: shown,
    edges: [...edges.values()].filter((e) => nodes.has(e.from) && nodes.has(e.to)),
    linked: middle.refs.length + citedCount,
    drawn,
    further: shown.filter((n) => n.step === 2).length,
    more: left,
  };
}
