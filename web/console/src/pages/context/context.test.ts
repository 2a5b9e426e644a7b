import { describe, expect, it } from "vitest";
import { mark } from "./marks";
import { requestOf } from "./request";
import { scoreParts } from "./score";

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
    scoreParts({ score, explanation: { ...explanation, ...change } });
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
});
