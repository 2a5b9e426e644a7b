import { describe, expect, it } from "vitest";
import { everything } from "../../filter/match";
import { addressOf, allThreads, askedOf, readThreadFilter, threadKey } from "./filter";
import { limits, nameIn, readViews, withView, writeViews } from "./views";

const [a, b] = ["a".repeat(64), "b".repeat(64)];

describe("a filter of threads in the address", () => {
  const filter = {
    things: { player: [a, b], tag: [], item: [b], place: [], flag: [a] },
    parts: { sender: [a], receiver: [b], leader: [b] },
    match: { ...everything, channels: ["voice"], importance: [2], text: "hotel", since: "-24h" },
  };

  it("is read as it was written, and what is so long ago stays so", () => {
    const address = addressOf(filter);
    expect(readThreadFilter(address)).toEqual(filter);
    expect(address.get("since")).toBe("-24h");
    expect(threadKey(address)).toBe(address.toString());
  });

  it("is the same in any order, with anything else beside it", () => {
    const other = new URLSearchParams([...addressOf(filter)].reverse().filter(([name]) => name !== "player"));
    for (const hash of [a, b, a]) other.append("player", hash);
    other.set("utm", "x");
    expect(threadKey(other)).toBe(addressOf(filter).toString());
    expect(threadKey(new URLSearchParams("utm=x&importance=7&tag="))).toBe("");
  });

  it("is asked of the server: hashes in the scope, the rest in the match, moments for what is relative", () => {
    expect(askedOf(filter, Date.parse("2026-03-02T12:00:00Z"))).toEqual({
      filter: { players: [a, b], items: [b], flags: [a], owners: [a] },
      match: {
        receivers: [b],
        leaders: [b],
        channels: ["voice"],
        importance: [2],
        text: "hotel",
        since: "2026-03-01T12:00:00.000Z",
      },
    });
    expect(askedOf(allThreads(), 0)).toEqual({ filter: null, match: null });
  });
});

describe("saved views", () => {
  const views = [
    { name: "Day", query: "since=-24h" },
    { name: "All", query: "" },
  ];

  it("are read as they were written", () => {
    expect(readViews(writeViews(views))).toEqual({ views, lost: false });
    expect(readViews(null)).toEqual({ views: [], lost: false });
  });

  it.each([
    ["no JSON", "{"],
    ["nothing", "null"],
    ["another version", JSON.stringify({ version: 2, views })],
    ["no list", JSON.stringify({ version: 1, views: {} })],
  ])("are not believed: %s", (_, text) => expect(readViews(text)).toEqual({ views: [], lost: true }));

  it("are checked one by one, and what else stands in a filter is left out", () => {
    const kept = [
      { name: " Day ", query: "since=-24h&evil=1" },
      { name: "Day", query: "" },
      { name: "", query: "" },
      { name: "x".repeat(limits.name + 1), query: "" },
      { name: 1, query: "" },
      null,
    ];
    const text = JSON.stringify({ version: 1, views: kept });
    expect(readViews(text)).toEqual({ views: [views[0]], lost: true });
    const many = Array.from({ length: limits.views + 1 }, (_, i) => ({ name: `v${i}`, query: "" }));
    expect(readViews(writeViews(many))).toEqual({ views: many.slice(0, -1), lost: true });
  });

  it("have each name once", () => {
    const other = { name: "Day", query: "since=-7d" };
    expect(withView(views, other)).toEqual([other, views[1]]);
    expect(withView(views, { name: "New", query: "" })).toHaveLength(3);
    expect([nameIn("  a \n b "), nameIn("  "), nameIn("x".repeat(61))]).toEqual(["a b", null, null]);
  });
});
