// Figures of the console at a thread of 100,000 messages, measured in a real browser against the real server, and
// printed. Nothing is asserted: they are of the machine that they are measured on.
import { parseArgs } from "node:util";
import { startBrowser } from "../chromium";
import { startServer } from "../server";
import { clicks } from "./clicks";
import { fill } from "./fill";
import { opening } from "./opening";
import { paint } from "./paint";
import { type Figure, table } from "./report";
import { scroll } from "./scroll";
import { type Setting, signIn } from "./setting";
import { tail } from "./tail";
import { verifying } from "./verifying";

const parts: Record<string, (setting: Setting) => Promise<Figure[]>> = {
  paint,
  scroll,
  clicks,
  opening,
  verifying,
  tail,
};

const help = `npm run figures -- [options]

Measures the console at a long thread, and prints figures, each with its limit and what bounds it on this machine.
The server is .build/context-manager unless CONTEXT_MANAGER_BIN names another, the browser /usr/bin/chromium unless
CHROMIUM does.

  --only NAMES     of ${Object.keys(parts).join(", ")}; none: only the thread is made
  --messages N     how long the thread is, 100000 unless told
  --data FOLDER    the server's data directory, which is kept: another run finds its thread there
  --json           as JSON
`;

/** Runs it with the arguments of a command line. */
export async function main(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { only: text, messages: text, data: text, json: flag, help: flag };
  const { values } = parseArgs({ args, options });
  if (values.help) return void process.stdout.write(help);
  const wanted = (values.only ?? Object.keys(parts).join(",")).split(",").filter((name) => name !== "none");
  const unknown = wanted.find((name) => !parts[name]);
  if (unknown) throw new Error(`no figure is called ${unknown}\n${help}`);
  const tell = (words: string) => void process.stderr.write(`${words}\n`);

  const server = await startServer({ folder: values.data ?? "" });
  const browser = await startBrowser();
  try {
    await fill(server, Number(values.messages ?? 100_000), tell);
    const setting = { server, browser, tell, state: await signIn(server, browser) };
    const figures: Figure[] = [];
    for (const name of wanted) {
      tell(`${name} …`);
      figures.push(...((await parts[name]?.(setting)) ?? []));
    }
    process.stdout.write(`${values.json ? JSON.stringify(figures, null, 2) : table(figures)}\n`);
  } finally {
    await browser.close();
    await server.stop();
  }
}
