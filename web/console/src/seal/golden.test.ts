import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "../chain/bytes";
import { openCheckpoint } from "./checkpoint";
import { checkConsistency, checkInclusion, type Leaf, leafBytes, leafHash } from "./merkle";
import { parseKey, SealError } from "./note";
import { parseProof } from "./proof";

// The vectors that Go and Python agree on too.
type Vectors = {
  key: string;
  witness: string;
  leaves: { session: string; sequence: number; message: string; bytes: string; hash: string }[];
  checkpoints: { size: number; root: string; note: string }[];
  proofs: { size: number; index: number; proof: string }[];
  consistency: { from: number; to: number; hashes: string[] }[];
  refused: { name: string; leaf: number; proof: string }[];
};

const file = new URL("../../../../testdata/seal/tree.json", import.meta.url);
const v = JSON.parse(readFileSync(file, "utf8")) as Vectors;
const key = parseKey(v.key);

function leaf(index: number): Leaf {
  const l = v.leaves[index];
  if (!l) throw new Error(`no leaf ${index}`);
  return { session: l.session, sequence: l.sequence, hash: l.message };
}

/** Checks a proof as the console does; the checkpoint's key is the pinned one. */
async function check(proof: string, of: Leaf, by = key): Promise<void> {
  const { index, path, checkpoint } = parseProof(proof);
  checkInclusion(of, index, path, await openCheckpoint(checkpoint, by));
}

const head = (size: number) => {
  const c = v.checkpoints.find((c) => c.size === size);
  return {
    size,
    root: c?.root ?? toBase64(new Uint8Array(fromBase64("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="))),
  };
};

it("there are vectors", () => {
  expect([v.leaves.length, v.checkpoints.length, v.proofs.length, v.consistency.length]).toEqual([9, 9, 45, 54]);
  expect(v.refused.length).toBeGreaterThan(7);
});

it.each(v.leaves.map((l, index) => ({ ...l, index })))("leaf $index", ({ index, bytes, hash }) => {
  expect(toBase64(leafBytes(leaf(index)))).toBe(bytes);
  expect(toBase64(leafHash(fromBase64(bytes)))).toBe(hash);
});

it.each(v.checkpoints)("checkpoint of $size", async ({ size, root, note }) => {
  expect(await openCheckpoint(note, key)).toEqual({ size, root, note, signature: "valid" });
});

it.each(v.proofs)("proof of $index in $size", async ({ index, size, proof }) => {
  await check(proof, leaf(index));
  expect(parseProof(proof).index).toBe(index);
  expect((await openCheckpoint(parseProof(proof).checkpoint, key)).size).toBe(size);
});

it.each(v.consistency)("consistency of $from and $to", ({ from, to, hashes }) => {
  checkConsistency(head(from), head(to), hashes);
});

describe("what is damaged is refused:", () => {
  it.each(v.refused)("$name", async ({ name, leaf: index, proof }) => {
    if (name === "two trees of one size") {
      // By itself it holds: what shows it is the other tree of that size.
      const forged = await openCheckpoint(parseProof(proof).checkpoint, key);
      expect(() => checkConsistency(head(forged.size), forged, [])).toThrow("chain.path.two");
      return;
    }
    await expect(check(proof, leaf(index))).rejects.toThrow(SealError);
  });

  const whole = v.proofs.find((p) => p.size === 9 && p.index === 4)?.proof ?? "";
  // The cosignature is not this browser's to check: it has no witness's key.
  const signed = whole.slice(0, whole.indexOf("\n— example.org/test-witness") + 1);

  it("every character flipped", async () => {
    await check(signed, leaf(4));
    for (let i = 0; i < signed.length; i++) {
      const flipped = signed.slice(0, i) + String.fromCharCode(signed.charCodeAt(i) ^ 1) + signed.slice(i + 1);
      await expect(check(flipped, leaf(4)), `character ${i}`).rejects.toThrow(SealError);
    }
  });

  it("every truncation", async () => {
    for (let n = 0; n < signed.length; n++) {
      await expect(check(signed.slice(0, n), leaf(4)), `${n} characters`).rejects.toThrow(SealError);
    }
  });

  it("another leaf, in each field", async () => {
    for (const change of [{ session: leaf(0).session }, { sequence: 99 }, { hash: leaf(0).hash }]) {
      const other = { ...leaf(4), ...change };
      if (JSON.stringify(other) !== JSON.stringify(leaf(4))) {
        await expect(check(whole, other), JSON.stringify(change)).rejects.toThrow(SealError);
      }
    }
    for (let index = 0; index < v.leaves.length; index++) {
      if (index !== 4) await expect(check(whole, leaf(index)), `leaf ${index}`).rejects.toThrow(SealError);
    }
  });

  it("another key, another origin, an id that is not the key's", async () => {
    const other = { ...key, key: new Uint8Array(key.key).fill(7) };
    await expect(check(whole, leaf(4), other)).rejects.toThrow("chain.checkpoint.signature");
    await expect(check(whole, leaf(4), { ...key, name: "example.org/other" })).rejects.toThrow(
      "chain.checkpoint.origin",
    );
    await expect(check(whole, leaf(4), { ...key, id: "00000000" })).rejects.toThrow("chain.checkpoint.unsigned");
    expect(() => parseKey(v.key.replace(/\+[0-9a-f]{8}\+/, "+00000000+"))).toThrow(SealError);
    expect(() => parseKey(v.key.replace("test-log", "test-dog"))).toThrow(SealError);
    expect(() => parseKey(v.witness)).toThrow(SealError);
    expect(() => parseKey("")).toThrow(SealError);
  });

  it("hashes added to a proof, taken from it, exchanged", async () => {
    const lines = whole.split("\n");
    const drop = lines.toSpliced(2, 1).join("\n");
    const twice = lines.toSpliced(2, 0, lines[2] ?? "").join("\n");
    const swapped = lines.toSpliced(2, 2, lines[3] ?? "", lines[2] ?? "").join("\n");
    for (const text of [drop, twice, swapped]) await expect(check(text, leaf(4))).rejects.toThrow(SealError);
  });

  it("a consistency proof with a hash flipped, dropped, added, and one of other trees", () => {
    for (const { from, to, hashes } of v.consistency.filter((c) => c.hashes.length > 0)) {
      const refused = (path: string[], older = head(from), newer = head(to)) =>
        expect(() => checkConsistency(older, newer, path), `${from} to ${to}`).toThrow(SealError);
      hashes.forEach((text, i) => {
        const bytes = fromBase64(text);
        bytes[0] = (bytes[0] ?? 0) ^ 1;
        refused(hashes.toSpliced(i, 1, toBase64(bytes)));
        refused(hashes.toSpliced(i, 1));
      });
      refused([...hashes, hashes[0] ?? ""]);
      refused(hashes.map((h) => h.slice(0, -1)));
      refused(hashes, { size: from, root: head(to).root });
      refused(hashes, head(from), { size: to, root: head(from).root });
      refused(hashes, head(to), head(from));
    }
    expect(() => checkConsistency(head(3), head(3), [head(3).root])).toThrow(SealError);
    expect(() => checkConsistency(head(0), head(3), [head(3).root])).toThrow(SealError);
  });
});

describe("a browser without Ed25519", () => {
  const note = v.checkpoints[8]?.note ?? "";
  const without = {} as Crypto; // as on plain http
  const refusing = {
    subtle: { importKey: () => Promise.reject(new DOMException("no", "NotSupportedError")) },
  } as unknown as Crypto;

  it("checks the signature all the same", async () => {
    for (const crypto of [without, refusing]) {
      expect((await openCheckpoint(note, key, crypto)).signature).toBe("valid");
      const forged = openCheckpoint(note, { ...key, key: key.key.toReversed() }, crypto);
      await expect(forged).rejects.toThrow("chain.checkpoint.signature");
    }
  });
  it("still refuses what is not signed at all, and another origin", async () => {
    const stripped = note.replace(/— example\.org\/test-log .*\n/, "");
    await expect(openCheckpoint(stripped, key, without)).rejects.toThrow("chain.checkpoint.unsigned");
    await expect(openCheckpoint(note, { ...key, name: "other" }, without)).rejects.toThrow("chain.checkpoint.origin");
  });
});
