import { describe, expect, it } from "vitest";
import { takeToken } from "./session";

function at(address: string) {
  const url = new URL(address, "http://127.0.0.1:8080");
  const shown: string[] = [];
  const history = { replaceState: (_: unknown, __: string, to: string) => shown.push(to) } as unknown as History;
  return { token: takeToken(url as unknown as Location, history), shown };
}

describe("takeToken", () => {
  it("takes the token and removes it from the address, and keeps the rest", () => {
    expect(at("/threads?x=1#token=a%2Bb")).toEqual({ token: "a+b", shown: ["/threads?x=1"] });
  });
  it("leaves other addresses alone", () => {
    expect(at("/threads")).toEqual({ token: null, shown: [] });
    expect(at("/threads#main")).toEqual({ token: null, shown: [] });
    expect(at("/threads#token=")).toEqual({ token: null, shown: [] });
  });
});
