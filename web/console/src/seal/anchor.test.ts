import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { Anchor, type Source } from "./anchor";
import { type Keep, readPin, writePin } from "./pin";
import { checkpointOf } from "./proof";

type Vectors = {
  key: string;
  checkpoints: { size: number; root: string; note: string }[];
  consistency: { from: number; to: number; hashes: string[] }[];
  refused: { name: string; proof: string }[];
};
const file = new URL("../../../../testdata/seal/tree.json", import.meta.url);
const v = JSON.parse(readFileSync(file, "utf8")) as Vectors;

const at = (size: number) => {
  const found = v.checkpoints.find((c) => c.size === size);
  if (!found) throw new Error(`no checkpoint of ${size}`);
  return found;
};

/** What an honest server answers whose newest checkpoint is of this size. */
function server(size: number, change: Partial<Source> = {}): Source {
  return {
    seal: async () => ({ publicKey: v.key, checkpoint: size === 0 ? null : at(size) }),
    consistency: async (from, to) => v.consistency.find((c) => c.from === from && c.to === to)?.hashes ?? [],
    ...change,
  };
}

function memory(): Keep {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}

let keep: Keep;
let clock = 0;
const now = () => `2026-03-0${++clock}T00:00:00Z`;
const begin = (source: Source) => Anchor.begin(source, keep, now);
const forged = checkpointOf(v.refused.find((r) => r.name === "two trees of one size")?.proof ?? "");

beforeEach(() => {
  keep = memory();
  clock = 0;
});

describe("an anchor", () => {
  it("pins the first key, and remembers each head that extends the last", async () => {
    const first = await begin(server(3));
    expect(first.standing).toMatchObject({ before: null, checkpoint: { size: 3, signature: "valid" }, problem: null });
    expect(readPin(keep)).toMatchObject({ key: v.key, since: expect.any(String), head: { size: 3, signed: true } });
    const since = readPin(keep)?.since;
    const next = await begin(server(8));
    expect(next.standing).toMatchObject({ before: { head: { size: 3 } }, checkpoint: { size: 8 }, problem: null });
    expect(readPin(keep)).toMatchObject({ since, head: { size: 8, root: at(8).root } });
    expect((await begin(server(8))).standing.problem).toBeNull();
  });

  it("pins the key of a log in which nothing is sealed yet", async () => {
    expect((await begin(server(0))).standing).toMatchObject({ checkpoint: null, problem: null });
    expect(readPin(keep)).toMatchObject({ key: v.key, head: null });
    expect((await begin(server(2))).standing.problem).toBeNull();
  });

  const wrong: [string, () => Source, string][] = [
    ["a smaller tree", () => server(5), "rollback"],
    ["no tree at all", () => server(0), "rollback"],
    ["another key", () => server(9, { seal: async () => ({ publicKey: "x+1+y", checkpoint: at(9) }) }), "key"],
    [
      "another tree of the size",
      () => server(9, { seal: async () => ({ publicKey: v.key, checkpoint: { note: forged } }) }),
      "fork",
    ],
    ["a proof of other trees", () => server(9, { consistency: async () => v.consistency[50]?.hashes ?? [] }), "fork"],
    ["a refusal to prove it", () => server(9, { consistency: () => Promise.reject(new Error("no")) }), "unproved"],
    [
      "a signature cut off",
      () =>
        server(9, { seal: async () => ({ publicKey: v.key, checkpoint: { note: at(9).note.replace(/— .*\n/, "") } }) }),
      "signature",
    ],
  ];
  it.each(wrong)("names %s, and remembers what it did before", async (name, source, kind) => {
    await begin(server(name === "another tree of the size" ? 9 : 7));
    const before = readPin(keep);
    const anchor = await begin(source());
    expect(anchor.standing).toMatchObject({ checkpoint: null, problem: { kind } });
    expect(readPin(keep)).toEqual(before);
    expect(await anchor.cover(at(7).note)).toMatchObject({ kind });
  });

  it("rejects if the server cannot be asked", async () => {
    await expect(begin(server(3, { seal: () => Promise.reject(new Error("gone")) }))).rejects.toThrow("gone");
    expect(readPin(keep)).toBeNull();
  });

  it("covers older and newer checkpoints of the same history", async () => {
    const anchor = await begin(server(5));
    expect(await anchor.cover(at(2).note)).toMatchObject({ size: 2, root: at(2).root });
    expect(anchor.standing.checkpoint?.size).toBe(5);
    expect(await anchor.cover(at(8).note)).toMatchObject({ size: 8 });
    expect(anchor.standing.checkpoint?.size).toBe(8);
    expect(readPin(keep)?.head?.size).toBe(8);
  });

  it("covers none of another history, and believes nothing from then on", async () => {
    const anchor = await begin(server(9));
    expect(await anchor.cover(forged)).toMatchObject({ kind: "fork" });
    expect(anchor.standing).toMatchObject({ checkpoint: null, problem: { kind: "fork" } });
    expect(await anchor.cover(at(2).note)).toMatchObject({ kind: "fork" });
  });

  it("asks for each checkpoint's consistency once", async () => {
    let asked = 0;
    const honest = server(9);
    const counting = server(9, {
      consistency: (from, to) => {
        asked++;
        return honest.consistency(from, to);
      },
    });
    const anchor = await begin(counting);
    await anchor.cover(at(4).note);
    await anchor.cover(at(4).note);
    expect(asked).toBe(1);
  });
});

it("a pin that cannot be read counts as none", () => {
  for (const text of ["", "{", "null", "7", '{"key":1}', '{"key":"k","since":"s","head":{"size":-1}}']) {
    keep.setItem("seal", text);
    expect(readPin(keep), text).toBeNull();
  }
  writePin(keep, { key: "k", since: "s", head: null });
  expect(readPin(keep)).toEqual({ key: "k", since: "s", head: null });
});
