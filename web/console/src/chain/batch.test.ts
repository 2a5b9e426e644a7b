import { describe, expect, it } from "vitest";
import { Batch, type Lanes, lanesHere } from "./batch";
import { sha256, toHex } from "./bytes";
import { Digest } from "./digest";
import { compiled } from "./lanes";

const hashers = [
  ["four at a time", lanesHere()],
  ["one by one", null],
] as const;

// Random numbers, the same in every run.
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// The digests of parts, in the order of the parts.
function digests(batch: Batch, parts: readonly Uint8Array[]): string[] {
  batch.clear();
  const to = batch.take(32 * parts.length);
  for (const [i, part] of parts.entries()) {
    const at = batch.take(part.length);
    batch.bytes.set(part, at);
    batch.add(at, part.length, to + 32 * i);
  }
  batch.flush();
  return parts.map((_, i) => toHex(batch.bytes.subarray(to + 32 * i, to + 32 * i + 32)));
}

const utf8 = new TextEncoder();
const bytes = (n: number, next: (below: number) => number) => Uint8Array.from({ length: n }, () => next(256));

describe("a digest by the library's rounds", () => {
  it("is the library's, for every length around its blocks", () => {
    const all = bytes(400, random(1));
    const view = new DataView(all.buffer);
    const found = new DataView(new ArrayBuffer(32));
    for (let n = 0; n <= 300; n++) {
      const digest = new Digest().of(all, view, 3, n);
      digest.write(found, 0);
      expect(toHex(new Uint8Array(found.buffer))).toBe(sha256(all.subarray(3, 3 + n)));
      expect(digest.is(found, 0)).toBe(true);
    }
  });
});

describe("four digests at a time", () => {
  it("can be taken here", () => {
    expect(lanesHere()).not.toBeNull();
  });

  it("are not taken where they cannot be, may not be, or are wrong", () => {
    const refused = () => {
      throw new WebAssembly.CompileError("refused by the content policy");
    };
    expect(lanesHere(refused)).toBeNull();
    for (let lane = 0; lane < 4; lane++) {
      const wrong = (): Lanes => {
        const { memory, digests } = compiled();
        const inOne = (...of: Parameters<typeof digests>) => {
          digests(...of);
          const at = of[7 + lane] as number;
          const view = new DataView(memory.buffer);
          if (of[4] === 1) view.setUint8(at + 31, view.getUint8(at + 31) ^ 1);
        };
        return { memory, digests: inOne };
      };
      expect(lanesHere(wrong)).toBeNull();
    }
  });
});

describe.each(hashers)("digests %s", (_, lanes) => {
  it("are those that the standard's authors give", () => {
    const known = {
      "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu:
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
      ["a".repeat(1_000_000)]: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    };
    expect(
      digests(
        new Batch(lanes),
        Object.keys(known).map((text) => utf8.encode(text)),
      ),
    ).toEqual(Object.values(known));
  });

  it("are the library's for every length, by itself and beside others of its length", () => {
    const next = random(2);
    const batch = new Batch(lanes);
    for (let n = 0; n <= 300; n++) {
      const parts = Array.from({ length: 1 + (n % 6) }, () => bytes(n, next));
      expect(digests(batch, parts)).toEqual(parts.map(sha256));
    }
  });

  it("are the library's for many of mixed lengths, where their memory had to grow and where it is used again", () => {
    const next = random(3);
    const batch = new Batch(lanes);
    for (let round = 0; round < 20; round++) {
      const parts = Array.from({ length: next(200) }, () => bytes(next(next(20) === 0 ? 40_000 : 900), next));
      expect(digests(batch, parts)).toEqual(parts.map(sha256));
    }
  });

  it("are of nothing that was not taken", () => {
    const batch = new Batch(lanes);
    const at = batch.take(100);
    expect(() => batch.add(at + 1, 100, at)).toThrow(RangeError);
    expect(() => batch.add(at, 2 ** 32 - 1, at)).toThrow(RangeError);
  });
});
