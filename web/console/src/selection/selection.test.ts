import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { difference, type Result } from "./difference";
import { mark } from "./marks";
import { type Claim, checkReceipt } from "./receipt";
import { scoreParts } from "./score";
import { inPolicy, textsOf, weightNames, weightsOf } from "./weights";

describe("mark", () => {
  const marked = (text: string, terms: string[]) =>
    mark(text, terms)
      .filter((p) => p.marked)
      .map((p) => p.text);
  it("marks words without regard to case, accents and endings, and nothing else", () => {
    expect(marked("La habitación está reservada. Habitaciones libres?", ["habitacion"])).toEqual([
      "habitación",
      "Habitaciones",
    ]);
    expect(marked("Flights: one flight, no flagship", ["flights"])).toEqual(["Flights", "flight"]);
    expect(marked("cat catalogue", ["cat"])).toEqual(["cat"]);
    expect(marked("anything", [])).toEqual([]);
  });
  it("loses no character", () => {
    const text = "e\u0301tage <b>é</b> 🧭 étage";
    const pieces = mark(text, ["etage"]);
    expect(pieces.map((p) => p.text).join("")).toBe(text);
    expect(pieces.filter((p) => p.marked)).toHaveLength(2);
  });
});

describe("scoreParts", () => {
  const explanation = {
    relevance: 0.6,
    lexical: 0.3,
    neighbours: 0.1,
    semantic: null,
    recency: 0.1,
    preference: 0,
    matchedTerms: [],
  };
  const widths = (score: number, change: Partial<typeof explanation>) =>
    scoreParts(score, { ...explanation, ...change });
  it("draws a bar as long as the score, with relevance divided among what it came from", () => {
    const parts = widths(0.7, {});
    expect(parts.map((p) => p.name)).toEqual(["lexical", "neighbours", "recency"]);
    expect(parts.map((p) => p.value)).toEqual([0.3, 0.1, 0.1]);
    expect(parts[0]?.width).toBeCloseTo(0.45);
    expect(parts.reduce((n, p) => n + p.width, 0)).toBeCloseTo(0.7);
  });
  it("stays within the bar when the sum was cut at 1", () => {
    expect(widths(1, { relevance: 0.95, preference: 0.15 }).reduce((n, p) => n + p.width, 0)).toBeCloseTo(1);
  });
  it("draws nothing for nothing", () => {
    expect(widths(0, { relevance: 0, lexical: 0, neighbours: 0, recency: 0 })).toEqual([]);
  });
});

describe("difference", () => {
  const explanation = {
    relevance: 0,
    lexical: 0,
    semantic: null,
    neighbours: 0,
    recency: 0,
    preference: 0,
    matchedTerms: [],
  };
  const result = (items: [string, number][], dropped: [string, number][] = [], rendered = ""): Result => ({
    items: items.map(([hash, score], i) => ({
      hash,
      score,
      position: i + 1,
      tokens: 1,
      type: "CONTEXT" as const,
      explanation,
      source: { __typename: "Record", hash, kind: "SECRETARY", book: "", title: hash, text: "", createdAt: "" },
    })),
    dropped: dropped.map(([hash, score]) => ({ hash, score, tokens: 1, reason: "BELOW_THRESHOLD" as const })),
    rendered,
  });

  it("tells what came in, left, moved and has another score, in this order", () => {
    const before = result(
      [
        ["a", 0.9],
        ["b", 0.8],
        ["c", 0.7],
        ["d", 0.6],
      ],
      [["e", 0.1]],
    );
    const after = result(
      [
        ["a", 0.95],
        ["c", 0.7],
        ["e", 0.5],
      ],
      [["b", 0.2]],
    );
    const { changes, same, identical } = difference(before, after);
    expect(changes.map((c) => [c.kind, c.hash, c.before.position, c.after.position])).toEqual([
      ["came", "e", null, 3],
      ["left", "b", 2, null],
      ["left", "d", 4, null],
      ["moved", "c", 3, 2],
      ["rescored", "a", 1, 1],
    ]);
    expect(changes[1]?.after).toEqual({ position: null, score: 0.2, reason: "BELOW_THRESHOLD" });
    expect(changes[2]?.after).toEqual({ position: null, score: null, reason: null });
    expect([same, identical]).toEqual([0, false]);
  });
  it("says so if nothing differs, and nothing less", () => {
    const one = result([["a", 0.9]], [["b", 0.1]], "block");
    expect(difference(one, one)).toEqual({ changes: [], same: 1, aside: 0, identical: true });
    expect(difference(one, { ...one, rendered: "another" }).identical).toBe(false);
    expect(difference(one, result([["a", 0.9]], [["b", 0.2]], "block"))).toMatchObject({ aside: 1, identical: false });
    expect(difference(one, result([["a", 0.9]], [], "block"))).toMatchObject({ aside: 1, identical: false });
  });
});

describe("weights", () => {
  it("come from the address and go there", () => {
    const weights = weightsOf(["RECENCY:0.25", "MIDDLE:1e-2", "RECENCY:1", "NO_SUCH:1", "OWNER:x", "OWNER:", ""]);
    expect(weights).toEqual([
      { name: "RECENCY", value: 0.25 },
      { name: "MIDDLE", value: 0.01 },
    ]);
    expect(weightsOf(textsOf(weights))).toEqual(weights);
  });
  it("have a place each in a policy", () => {
    expect(new Set(weightNames.map((n) => JSON.stringify(inPolicy(n)))).size).toBe(weightNames.length);
    expect(inPolicy("BEFORE_2")).toEqual({ field: "before", index: 1 });
    expect(inPolicy("SEMANTIC_FLOOR")).toEqual({ field: "semanticFloor", index: null });
  });
});

describe("checkReceipt", () => {
  const zeros = "0".repeat(62);
  const rendered = "Relevant Context:\n- the secret";
  const salt = "0123456789abcdef";
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  // As in internal/selection/receipt_test.go.
  const request = `"request":{"query":"<b>","scope":{"types":["context"]},"player":"01${zeros}","limit":5,"threshold":0.5,"tokenBudget":90,`;
  const at = `"at":"2026-01-02T03:04:05.000006Z"},"policy":{"version":"p","before":[0.5],"middle":0.26},`;
  const parts = `"relevance":0.5,"lexical":0.25,"semantic":0.25,"neighbours":0.125,"recency":0.1,"preference":0.15`;
  const items = `"items":[{"position":1,"hash":"02${zeros}","type":"context","score":0.75,"explanation":{${parts}`;
  const dropped = `},"tokens":3}],"dropped":[{"hash":"03${zeros}","type":"secretary","score":0.25,"tokens":4,"reason":"over_limit"}],`;
  const digest = `"renderedDigest":"${sha256(salt + rendered)}","tokens":8`;
  const third = `context-manager/selection/v3\n{${request}"previous":"09${zeros}",${at}"model":"m","denseModel":"d","logPosition":7,"logSize":6,"absent":[5,6],"recordPosition":4,"notices":["<late>"],${items}${dropped}${digest},"unchangedTokens":3}`;
  const first = `context-manager/selection/v1\n{${request}${at}"logPosition":7,"logSize":6,"model":"m",${items},"matchedTerms":["secret"]${dropped}"rendered":${JSON.stringify(rendered)},"tokens":8}`;
  const nowhere = {
    sessions: null,
    threads: null,
    players: null,
    owners: null,
    hashtags: null,
    flags: null,
    items: null,
    locations: null,
    eventTypes: null,
    since: null,
    until: null,
  };
  const claim = (preimage: string, change: Partial<Claim> = {}): Claim => ({
    receipt: sha256(preimage),
    preimage: base64(preimage),
    renderedSalt: base64(salt),
    rendered,
    tokens: 8,
    unchangedTokens: 3,
    logSize: 6,
    embeddingModel: "m",
    denseModel: "d",
    notices: ["<late>"],
    items: [
      {
        position: 1,
        hash: `02${zeros}`,
        type: "CONTEXT",
        score: 0.75,
        tokens: 3,
        explanation: {
          relevance: 0.5,
          lexical: 0.25,
          semantic: 0.25,
          neighbours: 0.125,
          recency: 0.1,
          preference: 0.15,
          matchedTerms: ["secret"],
        },
        source: { __typename: "Record", hash: "", kind: "SECRETARY", book: "", title: "", text: "", createdAt: "" },
      },
    ],
    dropped: [{ hash: `03${zeros}`, score: 0.25, tokens: 4, reason: "OVER_LIMIT" }],
    request: {
      query: "<b>",
      player: `01${zeros}`,
      limit: 5,
      threshold: 0.5,
      tokenBudget: 90,
      previous: preimage === third ? `09${zeros}` : null,
      at: "2026-01-02T03:04:05.0000060Z",
      scope: { ...nowhere, types: ["CONTEXT"] },
    },
    policy: {
      version: "p",
      weights: [
        { name: "BEFORE_1", value: 0.5, default: 0.5, min: 0, max: 2 },
        { name: "MIDDLE", value: 0.26, default: 0.26, min: 0, max: 2 },
        { name: "DATE", value: 0, default: 0.1, min: 0, max: 2 },
      ],
    },
    ...change,
  });

  it("finds that a receipt is that of what is shown", () => {
    const check = checkReceipt(claim(third));
    expect(check).toMatchObject({ state: "holds", block: "holds", version: 3, computed: sha256(third), differs: [] });
    expect(check.compared).toBeGreaterThan(40);
    const bare = { denseModel: null, unchangedTokens: 0, notices: [], renderedSalt: null };
    expect(checkReceipt(claim(first, bare))).toMatchObject({ state: "holds", block: "holds", version: 1, differs: [] });
  });
  it("finds bytes of another receipt", () => {
    const other = sha256("another");
    expect(checkReceipt(claim(third, { receipt: other }))).toMatchObject({
      state: "mismatch",
      computed: sha256(third),
    });
    const broken = claim("context-manager/selection/v3\n{");
    expect(checkReceipt(broken)).toMatchObject({ state: "mismatch", block: "mismatch" });
  });
  const one = claim(third);
  const [item] = one.items;
  it.each<[string, Partial<Claim>, string]>([
    ["a query", { request: { ...one.request, query: "<c>" } }, "request.query"],
    ["a moment", { request: { ...one.request, at: "2026-01-02T03:04:05.000007Z" } }, "request.at"],
    ["a scope", { request: { ...one.request, scope: { ...nowhere, types: null } } }, "request.scope.types"],
    ["a score", { items: item ? [{ ...item, score: 0.7500000000000001 }] : [] }, "items[0].score"],
    ["an item that is not shown", { items: [] }, "items.length"],
    ["a reason", { dropped: one.dropped.map((d) => ({ ...d, reason: "OVER_BUDGET" })) }, "dropped[0].reason"],
    [
      "a weight",
      { policy: { version: "p", weights: one.policy.weights.map((w) => ({ ...w, value: 0.5 })) } },
      "policy.middle",
    ],
    ["a notice", { notices: [] }, "notices"],
  ])("finds that %s is another", (_, change, path) => {
    const check = checkReceipt(claim(third, change));
    expect(check.state).toBe("differs");
    expect(check.differs).toContain(path);
  });
  it("finds another block, and one that can't be checked any more", () => {
    expect(checkReceipt(claim(third, { rendered: "another" }))).toMatchObject({ state: "holds", block: "mismatch" });
    const erased = { rendered: "Relevant Context:\n- [erased]", renderedSalt: null };
    expect(checkReceipt(claim(third, erased))).toMatchObject({ state: "holds", block: "gone" });
    expect(checkReceipt(claim(third, { preimage: null }))).toMatchObject({ state: "gone", computed: null });
  });
});
