import { execFileSync } from "node:child_process";
import { gql } from "urql";
import { describe, expect, it } from "vitest";
import { curlOf, quote } from "./curl";

const nasty = [`it's`, `$(id) \`id\` $TOKEN`, `"; rm -rf / #`, `a\\b\n!c`, `'`, ``, `@/etc/passwd`];

describe("quote", () => {
  it.each(nasty)("gives the shell %j as it is", (text) => {
    expect(execFileSync("sh", ["-c", `printf %s ${quote(text)}`], { encoding: "utf8" })).toBe(text);
  });
});

describe("curlOf", () => {
  it.each(nasty)("sends %j and the shell's token", (search) => {
    const query = gql`query Find($search: String) { records(search: $search) { totalCount } }`;
    const command = curlOf({ query, variables: { search } }, "http://127.0.0.1:8080");
    // What curl would be given, one argument a line.
    const script = `TOKEN=cmadm_x; curl() { for a in "$@"; do printf '%s\\0' "$a"; done; }; ${command}`;
    const args = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
    expect(args.slice(0, -1)).toEqual([
      "--silent",
      "--show-error",
      "http://127.0.0.1:8080/graphql",
      "--header",
      "Authorization: Bearer cmadm_x",
      "--header",
      "Content-Type: application/json",
      "--data-binary",
    ]);
    const body = JSON.parse(args.at(-1) ?? "") as { query: string; variables: object };
    expect(body.variables).toEqual({ search });
    expect(body.query).toContain("records(search: $search)");
    expect(body.query).not.toContain("__typename");
  });
});
