import { type ChildProcess, spawn } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A witness that runs, and what names it in WITNESSES. */
export type Witness = { process: ChildProcess; entry: string };

const name = "console.example.org/log";

/** Makes the key of a log before its server starts, so that a witness can know it. Gives its public key. */
export function writeLogKey(dir: string): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  const kind = Buffer.from([1]);
  const seed = Buffer.concat([kind, Buffer.from(d, "base64url")]);
  const key = Buffer.concat([kind, Buffer.from(x, "base64url")]);
  const id = createHash("sha256").update(`${name}\n`).update(key).digest("hex").slice(0, 8);
  const secret = `PRIVATE+KEY+${name}+${id}+${seed.toString("base64")}`;
  const publicKey = `${name}+${id}+${key.toString("base64")}`;
  writeFileSync(join(dir, "log.key"), `${secret}\n${publicKey}\n`, { mode: 0o600 });
  return publicKey;
}

/** Starts a witness of one log, with its files in dir. */
export async function startWitness(binary: string, dir: string, logKey: string): Promise<Witness> {
  const files = ["--state", join(dir, "witness.state"), "--key", join(dir, "witness.key")];
  const args = ["witness", ...files, "--name", "witness.example.org/1", "--addr", "127.0.0.1:0", "--log", logKey];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (data) => {
    complaints += data;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("WITNESSES=")) continue;
    child.stdout.resume();
    return { process: child, entry: line.slice("WITNESSES=".length) };
  }
  throw new Error(`the witness ended before it served:\n${complaints}`);
}
