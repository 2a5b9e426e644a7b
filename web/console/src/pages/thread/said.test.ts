import { describe, expect, it } from "vitest";
import { checkShown } from "../../chain/erasure";
import { emptied, erasureOf, write } from "../../chain/testing";
import type { State } from "./link";
import { saidOf } from "./said";

const m = write();
const said = (state: State, leafIndex: number | null, change: object = {}, erasure: typeof m | null = null) => {
  const shown = { ...m, ...change };
  const of = { ...shown, integrity: { ...shown.integrity, state, leafIndex } };
  return saidOf(of, checkShown(of, erasure)).words;
};

describe("what the panel says of a message", () => {
  it("is the server's word, by name, where nothing is wrong with it", () => {
    expect(said("CHAINED", null)).toBe("Chained: the server says that no signed checkpoint covers it yet");
    expect(said("SEALED", 17)).toBe("Sealed: the server says that a signed checkpoint covers it; leaf 17 of the tree");
    expect(said("WITNESSED", 17)).toMatch(/^Witnessed: the server says .*; leaf 17 of the tree$/);
  });

  it("is that it was altered, of one whose hash has a leaf, too, and never that it is not sealed yet", () => {
    for (const state of ["CHAINED", "SEALED"] as const) {
      expect(said(state, 17, { content: "Forged" })).toBe(
        "Altered: what is shown here is not what its hash covers; its hash is leaf 17 of the tree, the server says",
      );
    }
    expect(said("CHAINED", null, { source: "elsewhere" })).toBe(
      "Altered: what is shown here is not what its hash covers",
    );
  });

  it("is that the server finds it altered, where that is all that is known", () => {
    expect(said("CHAINED", 17)).toBe(
      "Altered, the server says: what it holds is not what was sealed; its hash is leaf 17 of the tree, the server says",
    );
  });

  it("is that it was erased only by an erasure that was recomputed", () => {
    expect(said("ERASED", 17, emptied(m), erasureOf(m))).toMatch(
      /^Content erased, on the record: .*; leaf 17 of the tree$/,
    );
    for (const erasure of [null, { ...erasureOf(m), content: "another reason" }, erasureOf(write({ content: "x" }))]) {
      expect(said("ERASED", 17, emptied(m), erasure)).toMatch(
        /^Content gone: no erasure on record holds here; its hash is/,
      );
    }
    expect(said("ERASED", 17, { ...emptied(m), importance: 2 }, erasureOf(m))).toMatch(
      /^Altered: .*; its hash is leaf 17 of the tree, the server says$/, // erased on the record, and altered besides
    );
    expect(said("ERASED", null)).toBe("Content erased, the server says, and gives it all the same");
  });
});
