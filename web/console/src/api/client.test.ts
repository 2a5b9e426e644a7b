import { afterEach, describe, expect, it, vi } from "vitest";
import { newClient } from "./client";
import { Comeback } from "./comeback";

const query = 'query Said { message(hash: "1") { hash content } }';

afterEach(() => vi.unstubAllGlobals());

describe("newClient", () => {
  it("keeps no answer: what is asked for again is what the server has now", async () => {
    const contents = ["what was said", null];
    vi.stubGlobal("fetch", async () => {
      const data = { message: { __typename: "Message", hash: "1", content: contents.shift() } };
      return new Response(JSON.stringify({ data }), { headers: { "Content-Type": "application/json" } });
    });
    const client = newClient(new Comeback());
    const asked = () => client.query<{ message: { content: string | null } }>(query, {}).toPromise();
    expect((await asked()).data?.message.content).toBe("what was said");
    expect((await asked()).data?.message.content).toBeNull(); // erased meanwhile, by somebody else
    expect(client.readQuery(query, {}, { requestPolicy: "cache-first" })).toBeNull();
  });
});
