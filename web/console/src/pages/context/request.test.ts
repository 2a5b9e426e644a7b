import { describe, expect, it } from "vitest";
import { requestOf } from "./request";

describe("requestOf", () => {
  it("is null without a question", () => {
    expect(requestOf(new URLSearchParams("q=%20&limit=3"))).toBeNull();
  });
  it("asks with the usual limits everywhere", () => {
    expect(requestOf(new URLSearchParams("q=hotel"))).toEqual({
      query: "hotel",
      limit: 5,
      threshold: 0.7,
      tokenBudget: null,
      player: null,
      previous: null,
      scope: null,
    });
  });
  it("reads all of the form", () => {
    const params = new URLSearchParams(
      "q=hotel&limit=9&threshold=0&budget=200&as=aa&keep=ee&player=bb&player=cc&thread=dd&type=SECRETARY&type=X&since=2026-01-02",
    );
    expect(requestOf(params)).toEqual({
      query: "hotel",
      limit: 9,
      threshold: 0,
      tokenBudget: 200,
      player: "aa",
      previous: "ee",
      scope: { players: ["bb", "cc"], threads: ["dd"], types: ["SECRETARY"], since: "2026-01-02T00:00:00Z" },
    });
  });
  it("gives the second side what it sets, and else what the first has", () => {
    const params = new URLSearchParams("q=hotel&limit=9&threshold=0.2&budget=200&limit2=3&threshold2=0");
    expect(requestOf(params, 2)).toMatchObject({ query: "hotel", limit: 3, threshold: 0, tokenBudget: 200 });
    expect(requestOf(params)).toMatchObject({ limit: 9, threshold: 0.2 });
  });
});
