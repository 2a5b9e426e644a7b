import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Server } from "./server";

const root = new URL("../../../", import.meta.url).pathname;

/** What a model is asked. */
export type Asked = { messages: { role: string; content: string }[] };

/** A text, a status that is an error, or nothing at all. */
type Said = string | number | null;

/** A model over HTTP that does what it is told to. */
export type Model = {
  url: string;
  /** What it was asked, in order. */
  asked: Asked[];
  answer: (asked: Asked) => Said | Promise<Said>;
  stop: () => void;
};

export async function startModel(): Promise<Model> {
  const model: Model = { url: "", asked: [], answer: () => 500, stop: () => undefined };
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const part of request) body += part;
    const asked = JSON.parse(body) as Asked;
    model.asked.push(asked);
    const said = await model.answer(asked);
    if (said === null) return;
    if (typeof said === "number") response.writeHead(said).end();
    else response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content: said } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  model.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return model;
}

/** The example of docs/examples/webchat, built, with a token as its README says. */
export class Webchat {
  base = "";
  private child: ChildProcess | null = null;
  private readonly dir = mkdtempSync(join(tmpdir(), "webchat-test-"));
  private readonly binary = join(this.dir, "webchat");
  private token = "";

  constructor(
    private readonly server: Server,
    private readonly flags: string[],
  ) {
    execFileSync("go", ["build", "-o", this.binary, "./docs/examples/webchat"], { cwd: root, stdio: "inherit" });
  }

  /** Starts it, at the same address as before if it ran before, with more flags than usual or without. */
  async start(...more: string[]): Promise<void> {
    if (this.token === "") {
      const player = createHash("sha256").update("ply:webchat").digest("hex");
      const scopes = ["log:read", "log:append", "context:select", "events:ingest"];
      this.token = (await this.server.makeToken({ kind: "AGENT", player, scopes, note: "web chat" })).secret;
    }
    const addr = this.base.replace("http://", "") || "127.0.0.1:0";
    const env = { ...process.env, WEBCHAT_TOKEN: this.token };
    const args = ["-server", this.server.base, "-addr", addr, ...this.flags, ...more];
    const child = spawn(this.binary, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      this.base = /http:\/\/[\d.:]+/.exec(line)?.[0] ?? "";
      return;
    }
    throw new Error("the web chat ended before it served");
  }

  /** Ends it; what it was answering is recorded. */
  async stop(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
