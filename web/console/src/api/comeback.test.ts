import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Comeback } from "./comeback";

const refused = () =>
  new Response('{"errors":[{"message":"the session has ended: sign in again"}]}', {
    status: 401,
    headers: { "Content-Type": "application/json" },
  });

function serverWith(...answers: Response[]) {
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", (_: unknown, init?: RequestInit) => {
    asked.push(init?.body);
    return Promise.resolve(answers.shift() ?? new Response("{}"));
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

describe("Comeback", () => {
  it("leaves nothing at a signal that outlives the wait", async () => {
    const comeback = new Comeback();
    const { signal } = new AbortController();
    const waiting = [comeback.wait("ended", signal), comeback.wait("ended", signal)];
    expect(getEventListeners(signal, "abort")).toHaveLength(2);
    comeback.back();
    await Promise.all(waiting);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("sends what was refused once more after somebody is back, and says why it was refused", async () => {
    const asked = serverWith(refused());
    const comeback = new Comeback();
    const ended = new Promise<string>((resolve) => {
      comeback.onEnded = resolve;
    });
    let answer: Response | null = null;
    const waiting = comeback.fetch("/graphql", { method: "POST", body: "1" }).then((r) => {
      answer = r;
    });
    expect(await ended).toBe("the session has ended: sign in again");
    expect(asked).toEqual(["1"]);
    expect(answer).toBeNull();
    comeback.back();
    await waiting;
    expect(asked).toEqual(["1", "1"]);
    expect(answer).toMatchObject({ status: 200 });
  });

  it("gives what is refused again as it is, and everything else at once", async () => {
    serverWith(refused(), refused(), new Response("no", { status: 503 }));
    const comeback = new Comeback();
    comeback.onEnded = () => queueMicrotask(() => comeback.back());
    expect((await comeback.fetch("/graphql")).status).toBe(401);
    expect((await comeback.fetch("/graphql")).status).toBe(503);
  });

  it("does not send again what nobody waits for any more", async () => {
    const asked = serverWith(refused());
    const comeback = new Comeback();
    const controller = new AbortController();
    comeback.onEnded = () => controller.abort(new Error("gone"));
    await expect(comeback.fetch("/graphql", { signal: controller.signal })).rejects.toThrow("gone");
    comeback.back();
    expect(asked).toHaveLength(1);
  });
});
