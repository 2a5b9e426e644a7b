// The audits of graphql-http: whether the server speaks GraphQL over HTTP as the specification has it.
import { buildClientSchema, getIntrospectionQuery } from "graphql";
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

function fetchAsAdministrator(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${server.token}`);
  return fetch(url, { ...init, headers });
}

const audits = serverAudits({ url: () => `${server.base}/graphql`, fetchFn: fetchAsAdministrator });

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

describe("introspection", () => {
  it("gives administrators' tools the whole schema", async () => {
    const query = getIntrospectionQuery({
      schemaDescription: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    const response = await fetchAsAdministrator(`${server.base}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = await response.json();
    expect(errors).toBeUndefined();
    expect(buildClientSchema(data).getQueryType()?.getFields()).toHaveProperty("verifyLog");
  });
});
