import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWitness, writeLogKey } from "./witness";

const root = new URL("../../../", import.meta.url).pathname;

/** The real server with the sample log, in a data directory of its own. */
export type Server = {
  base: string;
  token: string;
  /** Runs SQL as the database's superuser, and gives what it prints, unaligned and without headings. */
  sql: (text: string) => string;
  /** Asks the API, as the administrator of the data directory's file unless with another token; throws on errors. */
  ask: <T>(query: string, variables?: object, token?: string) => Promise<T>;
  /** Makes a token by the API. */
  makeToken: (input: object) => Promise<{ id: string; secret: string }>;
  /** Appends a message to a session, as the sender of its first one. */
  append: (session: string, content: string) => Promise<void>;
  /** Delivers events to the webhook, in the administrator's name, and gives the hashes that they became. */
  deliver: (events: readonly object[]) => Promise<string[]>;
  /** Where its data is. */
  dir: string;
  /** Ends it, and leaves its data. */
  halt: () => Promise<void>;
  /** Ends it, and removes its data, unless it was to stay. */
  stop: () => Promise<void>;
};

/**
 * Builds the server, unless CONTEXT_MANAGER_BIN names one, and starts it; on demand with a witness, a process of its
 * own. Throws with its output if it ends early. folder: a data directory that stays, instead of one for this server alone.
 * Where SAMPLE_DATA names the data of a server that has ended, that is what it begins with, unless it has a witness, which
 * has to be there from a log's first message on.
 */
export async function startServer({ witnessed = false, folder = "" } = {}): Promise<Server> {
  const binary = process.env.CONTEXT_MANAGER_BIN ?? build();
  const dir = folder || mkdtempSync(join(tmpdir(), "console-test-"));
  const sample = process.env.SAMPLE_DATA;
  if (sample && !folder && !witnessed) execFileSync("cp", ["-a", `${sample}/.`, dir]); // with whose files they are
  chmodSync(dir, 0o755); // the private Postgres may run as another user than this test
  const port = await freePort();
  const { DATABASE_URL: _, ...env } = process.env;
  const witness = witnessed ? await startWitness(binary, dir, writeLogKey(dir)) : null;
  const child = spawn(binary, ["serve", "--addr", `127.0.0.1:${port}`, "--data-dir", dir], {
    cwd: root,
    env: { ...env, DEMO: "1", WITNESSES: witness?.entry ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  child.stderr.on("data", (data) => {
    output += data;
  });
  let stopping = false;
  child.once("exit", (code, signal) => {
    if (!stopping) process.stderr.write(`the server ended by itself (${code ?? signal}):\n${output}\n`);
  });
  const base = `http://127.0.0.1:${port}`;
  try {
    await ready(base, child, () => output);
  } catch (error) {
    if (witness) await ended(witness.process);
    throw error;
  }
  const token = readFileSync(join(dir, "admin.token"), "utf8").trim();
  const sql = (text: string) => {
    const url = readFileSync(join(dir, "postgres.url"), "utf8").trim();
    return execFileSync("psql", [url, "-XqAt", "-v", "ON_ERROR_STOP=1"], { input: text, encoding: "utf8" }).trim();
  };
  const ask = async <T>(query: string, variables: object = {}, as = token): Promise<T> => {
    const response = await fetch(`${base}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${as}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };
  const halt = async () => {
    stopping = true;
    await ended(child);
    if (witness) await ended(witness.process);
  };
  return {
    base,
    token,
    sql,
    ask,
    makeToken: async (input) => {
      const query = "mutation ($i: TokenInput!) { createToken(input: $i) { secret token { id } } }";
      const { createToken: made } = await ask<{ createToken: { secret: string; token: { id: string } } }>(query, {
        i: input,
      });
      return { id: made.token.id, secret: made.secret };
    },
    append: async (session, content) => {
      const owner = sql(`SELECT owner_id FROM log.messages WHERE session_hash = '${session}' AND sequence = 1`);
      const query = "mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }";
      await ask(query, { m: [{ sessionHash: session, ownerId: owner, content }] });
    },
    deliver: async (events) => {
      const response = await fetch(`${base}/hooks/events`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(events),
      });
      if (!response.ok) throw new Error(await response.text());
      return ((await response.json()) as { hashes: string[] }).hashes;
    },
    dir,
    halt,
    stop: async () => {
      await halt();
      if (!folder) rmSync(dir, { recursive: true, force: true });
    },
  };
}

function build(): string {
  const binary = join(root, ".build", "context-manager");
  if (!existsSync(join(root, "web", "dist", "index.html"))) {
    execFileSync("npm", ["run", "--silent", "build"], { cwd: join(root, "web", "console"), stdio: "inherit" });
  }
  execFileSync("go", ["build", "-o", binary, "."], { cwd: root, stdio: "inherit" });
  return binary;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

async function ready(base: string, child: ChildProcess, output: () => string): Promise<void> {
  const limit = Date.now() + 120_000;
  while (Date.now() < limit) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${output()}`);
    const answer = await fetch(`${base}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill("SIGKILL");
  throw new Error(`the server was not ready in two minutes:\n${output()}`);
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
