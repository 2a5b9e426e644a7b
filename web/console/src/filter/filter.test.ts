import { describe, expect, it } from "vitest";
import { everything, filterKey, matchOf, readFilter, withFilter } from "./match";

describe("a filter in the address", () => {
  const filter = { channels: ["web chat", "a&b"], importance: [1, 2], text: "hotel", since: "-24h", until: "" };

  it("is read as it was written, and leaves the rest alone but for the place in the list", () => {
    const written = withFilter(new URLSearchParams("at=7&message=x"), filter);
    expect(readFilter(written)).toEqual(filter);
    expect([written.get("at"), written.get("message")]).toEqual([null, "x"]);
    expect(filterKey(written)).toBe(filterKey(new URLSearchParams(`${written}&at=9`)));
  });

  it("keeps what is so long ago as it is, and asks the server for the moment", () => {
    const now = Date.parse("2026-03-02T12:00:00Z");
    expect(matchOf(filter, now)).toEqual({
      channels: ["web chat", "a&b"],
      importance: [1, 2],
      text: "hotel",
      since: "2026-03-01T12:00:00.000Z",
    });
    expect(matchOf(everything, now)).toBeNull();
  });

  it("leaves out what cannot be read", () => {
    expect(readFilter(new URLSearchParams("importance=7&since=soon&until=-3w&channel="))).toEqual(everything);
  });
});
