import { expect, it } from "vitest";
import { toBase64 } from "../chain/bytes";
import { digits } from "../chain/testing";
import { Climbed, checkConsistency, checkInclusion, type Leaf } from "./merkle";
import { SealError } from "./note";
import { TestTree } from "./testing";

const most = 100;
const leaves = Array.from(
  { length: most },
  (_, i): Leaf => ({ session: digits("5"), sequence: i + 1, hash: digits("a") }),
);
const tree = new TestTree(leaves);
const head = (size: number) => ({ size, root: tree.root(size) });

it(`every leaf is proved in every tree of up to ${most}, at its own place only`, () => {
  for (let size = 1; size <= most; size++) {
    for (let index = 0; index < size; index++) {
      const path = tree.path(index, size);
      const leaf = leaves[index] as Leaf;
      checkInclusion(leaf, index, path, head(size));
      const elsewhere = (index + 1) % size;
      if (elsewhere !== index) {
        expect(() => checkInclusion(leaf, elsewhere, path, head(size)), `${index} in ${size}`).toThrow(SealError);
      }
      expect(() => checkInclusion(leaf, index + size, path, head(size))).toThrow(SealError);
    }
  }
});

it("what a proof before went through proves the same, and nothing else", () => {
  for (let size = 1; size < most; size += 9) {
    const before = new Climbed();
    const read = (index: number) => before.read(tree.path(index, size).map(toBase64));
    // In order, as a session is checked, and then to and fro.
    const places = Array.from({ length: size }, (_, i) => i).concat(
      Array.from({ length: size }, (_, i) => (i * 7) % size),
    );
    for (const index of places) {
      const leaf = leaves[index] as Leaf;
      checkInclusion(leaf, index, read(index), head(size), before);
      const path = read(index);
      const other = { ...leaf, hash: digits("b") };
      expect(() => checkInclusion(other, index, path, head(size), before)).toThrow("chain.path.root");
      const root = tree.root(size + 1);
      expect(() => checkInclusion(leaf, index, path, { size, root }, before)).toThrow("chain.path.root");
      for (let i = 0; i < path.length; i++) {
        const wrong = path.with(
          i,
          (path[i] as Uint8Array).map((byte) => byte ^ 1),
        );
        expect(() => checkInclusion(leaf, index, wrong, head(size), before), `${index} in ${size}`).toThrow(SealError);
      }
      expect(() => checkInclusion(leaf, index, [...path, new Uint8Array(32)], head(size), before)).toThrow(SealError);
      if (size > 1) expect(() => checkInclusion(leaf, index, path.slice(1), head(size), before)).toThrow(SealError);
    }
  }
});

it(`every tree of up to ${most} extends every smaller one, and no altered one`, () => {
  for (let size = 1; size <= most; size++) {
    for (let older = 1; older <= size; older++) {
      const path = tree.consistency(older, size);
      checkConsistency(head(older), head(size), path);
      if (older === size) continue;
      const other = { size: older, root: tree.root(size) };
      expect(() => checkConsistency(other, head(size), path), `${older} in ${size}`).toThrow(SealError);
      expect(() => checkConsistency(head(older), { size, root: tree.root(older) }, path)).toThrow(SealError);
    }
  }
});

it("sizes beyond 32 bits are not cut short", () => {
  const size = 2 ** 33;
  const path = Array.from({ length: 33 }, () => new Uint8Array(32));
  const leaf = leaves[0] as Leaf;
  expect(() => checkInclusion(leaf, 2 ** 32, path, { size, root: tree.root(1) })).toThrow("chain.path.root");
  expect(() => checkInclusion(leaf, 2 ** 32, path.slice(1), { size, root: tree.root(1) })).toThrow("chain.path.few");
  expect(() => checkInclusion(leaf, 2 ** 32, [...path, ...path], { size, root: tree.root(1) })).toThrow(
    "chain.path.many",
  );
});
