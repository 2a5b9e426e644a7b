import { afterEach, describe, expect, it, vi } from "vitest";
import { arrive, takeToken } from "./session";

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
  it("removes what is no text, and takes nothing", () => {
    expect(at("/threads#token=%")).toEqual({ token: null, shown: ["/threads"] });
  });
});

// A server that knows tokens by what begins their name, and a browser that is signed in as somebody, or not.
function browser(signedIn: string | null) {
  const asked: string[] = [];
  let cookie = signedIn;
  const who = (token: string) => ({ player: token.split(" ")[0], role: "client", scopes: [], token });
  const kept = new Map(signedIn ? [["signed-in", "1"]] : []);
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  vi.stubGlobal(
    "fetch",
    (_: string, init: { method: string; body: string | null; headers: Record<string, string> }) => {
      const bearer = init.headers.Authorization?.slice("Bearer ".length);
      asked.push(bearer ? `${init.method} with a token` : init.method);
      const token =
        init.method === "POST" ? (JSON.parse(init.body ?? "") as { token: string }).token : (bearer ?? cookie);
      if (!token || token === "nobody") {
        return Promise.resolve(new Response('{"errors":[{"message":"unknown token"}]}', { status: 401 }));
      }
      if (init.method === "POST") cookie = token;
      return Promise.resolve(init.method === "POST" ? new Response(null, { status: 204 }) : Response.json(who(token)));
    },
  );
  return { asked, cookie: () => cookie };
}

describe("arrive", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("signs in whoever is not signed in", async () => {
    const b = browser(null);
    expect(await arrive("lena 1")).toMatchObject({ state: { identity: { player: "lena" } }, offer: null });
    expect(b.asked).toEqual(["POST", "GET"]);
  });
  it("asks whoever is signed in as another, and leaves their session alone", async () => {
    const b = browser("ben 1");
    expect(await arrive("lena 1")).toMatchObject({
      state: { kind: "signedIn", identity: { player: "ben" } },
      offer: { token: "lena 1", whose: { player: "lena" } },
    });
    expect(b.asked).toEqual(["GET", "GET with a token"]);
    expect(b.cookie()).toBe("ben 1");
  });
  it("takes another token of the same player", async () => {
    const b = browser("lena 1");
    expect(await arrive("lena 2")).toMatchObject({ state: { identity: { player: "lena" } }, offer: null });
    expect(b.cookie()).toBe("lena 2");
  });
  it("leaves a session alone for a token that is nobody's", async () => {
    const b = browser("ben 1");
    expect(await arrive("nobody")).toMatchObject({ state: { identity: { player: "ben" } }, offer: null });
    expect(b.cookie()).toBe("ben 1");
  });
  it("asks who is signed in where no token came", async () => {
    browser("ben 1");
    expect(await arrive(null)).toMatchObject({ state: { identity: { player: "ben" } }, offer: null });
  });
});
