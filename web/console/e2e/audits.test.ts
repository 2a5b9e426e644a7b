// The audits of graphql-http: whether the server speaks GraphQL over HTTP as the specification has it.
import { serverAudits } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Server, startServer } from "./server";

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(async () => {
  await server?.stop();
});

const audits = serverAudits({
  url: () => `${server.base}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${server.token}`);
    return fetch(url, { ...init, headers });
  },
});

describe("audits of graphql-http", () => {
  it("are as many as they were", () => {
    expect(audits).toHaveLength(61);
  });

  it.each(audits.map((audit) => [`${audit.id} ${audit.name}`, audit] as const))("%s", async (_, audit) => {
    const result = await audit.fn();
    const reason = "reason" in result ? result.reason : "";
    expect(`${result.status} ${reason}`.trim()).toBe("ok");
  });
});
