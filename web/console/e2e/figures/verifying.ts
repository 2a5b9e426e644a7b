import type { BrowserContext, Page } from "playwright-core";
import { forget, framesOf, tasksOf } from "./probe";
import { type Figure, quantile } from "./report";
import { openThread, type Setting } from "./setting";

/** How long the chain of the whole thread takes to recompute, and whether the page can be used meanwhile. */
export async function verifying(setting: Setting): Promise<Figure[]> {
  const { page, context } = await openThread(setting);
  const { total, blocked, frames } = await verified(page);
  await context.close();
  const { work, sent, n, bytes, bare } = await replayed(setting);
  const what = `${sent.answers} answers, ${Math.round(sent.bytes / 1e6)} MB`;
  const how = `what the page asked of its ${sent.workers} Workers, asked once more of as many others that are given the same answers: ${what}; starting the Workers and reading the answers included`;
  return [
    {
      name: `${n} hashes verified: fields, contents, links and Merkle proofs`,
      limit: 1_500,
      measured: work,
      unit: "ms",
      how,
      beside: {
        measured: bare,
        what: `SHA-256 of the same ${Math.round(bytes / 1e6)} MB, two digests a message, by the library alone in one Worker`,
      },
    },
    {
      name: "– from the click to the verdict, with fetching",
      limit: null,
      measured: total,
      unit: "ms",
      how: "until the browser's verdict is shown; the server's own check comes behind it",
    },
    {
      name: "– longest task of the page meanwhile",
      limit: 50,
      measured: Math.max(0, ...blocked),
      unit: "ms",
      how: `long tasks: ${blocked.length}`,
    },
    {
      name: "– frames meanwhile, p95",
      limit: 20,
      measured: quantile(frames, 0.95),
      unit: "ms",
      how: `between calls of requestAnimationFrame, the longest ${Math.round(Math.max(...frames))} ms`,
    },
  ];
}

// What the server once gave for a stretch is given for it from then on: the next checkpoint would change it.
async function keepStretches(context: BrowserContext): Promise<void> {
  const kept = new Map<string, Buffer>();
  await context.route("**/stretch?*", async (route) => {
    const address = route.request().url();
    const body = kept.get(address);
    if (body) return route.fulfill({ body, contentType: "application/octet-stream" });
    const response = await route.fetch();
    if (response.ok()) kept.set(address, await response.body());
    return route.fulfill({ response });
  });
}

// Clicks, and waits until this browser's two lines have come to their end.
async function verified(page: Page) {
  await forget(page);
  const began = Date.now();
  await page
    .getByRole("button", { name: /^Verify/ })
    .first()
    .click();
  await page.waitForFunction(
    () => {
      const lines = [...document.querySelectorAll("[data-tone]")].map((line) => line.getAttribute("data-tone"));
      return lines.length === 3 && lines.slice(0, 2).every((tone) => tone === "good");
    },
    null,
    { timeout: 230_000 },
  );
  const total = Date.now() - began;
  return { total, blocked: await tasksOf(page), frames: await framesOf(page) };
}

type Asked = { id: number; content: { kind: string; address?: string } };
type Sent = { workers: { url: string; requests: Asked[]; bodies: Map<string, ArrayBuffer> }[] };

// Keeps what the page sends to its Workers, and sends it to fresh ones that are given the same answers from memory.
async function replayed(setting: Setting) {
  const { page, context } = await openThread(setting);
  await keepStretches(context);
  await page.evaluate(() => {
    const sent: Sent = { workers: [] };
    const global = globalThis as unknown as { sent: Sent; Worker: typeof Worker; plain: typeof Worker };
    global.sent = sent;
    global.plain = Worker;
    global.Worker = class extends Worker {
      private readonly kept: Sent["workers"][number];
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        this.kept = { url: String(url), requests: [], bodies: new Map() };
        sent.workers.push(this.kept);
      }
      override postMessage(request: Asked): void {
        this.kept.requests.push(request);
        super.postMessage(request);
      }
    };
  });
  await verified(page);
  // The server's own check comes behind it, and would take the processors from what is measured.
  await page.waitForFunction(() => document.querySelectorAll('[data-tone="good"]').length === 3);
  const lengths = await page.evaluate(async () => {
    const { workers } = (globalThis as unknown as { sent: Sent }).sent;
    const all: number[] = [];
    for (const { requests, bodies } of workers) {
      for (const { content } of requests) {
        if (content.kind === "page") throw new Error("some of it was checked message by message");
        if (content.kind !== "fetch" || !content.address) continue;
        const response = await fetch(content.address);
        if (!response.ok) throw new Error(`HTTP ${response.status} for a stretch`);
        const body = await response.arrayBuffer();
        bodies.set(content.address, body);
        const view = new DataView(body);
        let at = "context-manager/stretch/v1\n".length;
        const framed = () => {
          const n = view.getUint32(at);
          at += 4 + (n === 0xffffffff ? 0 : n);
          return n;
        };
        framed(); // the checkpoint
        at += 8;
        framed(); // what is next
        at += 4;
        for (let left = view.getUint32(at - 4); left > 0; left--) {
          framed(); // the hash
          all.push(framed(), framed());
          framed(); // refs
          at += 8;
        }
      }
    }
    return all;
  });
  const sent = await page.evaluate(() => {
    const { workers } = (globalThis as unknown as { sent: Sent }).sent;
    const bodies = workers.flatMap((w) => [...w.bodies.values()].map((body) => body.byteLength));
    return { bytes: bodies.reduce((a, b) => a + b, 0), answers: bodies.length, workers: workers.length };
  });
  await context.route("**/figures/replay.js", (route) => {
    const body = `onmessage = ({ data: { url, bodies } }) => {
        globalThis.fetch = (address) => Promise.resolve(new Response(bodies.get(address)));
        import(url).then(() => postMessage("started"));
      };`;
    return route.fulfill({ body, contentType: "text/javascript" });
  });
  const work = await page.evaluate(async () => {
    const { sent, plain } = globalThis as unknown as { sent: Sent; plain: typeof Worker };
    const answered = (worker: Worker, message: unknown, moved: Transferable[] = []) =>
      new Promise<unknown>((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(`a Worker of the replay failed: ${message}`));
        worker.postMessage(message, moved);
      });
    const began = performance.now();
    await Promise.all(
      sent.workers.map(async ({ url, requests, bodies }) => {
        const worker = new plain("/figures/replay.js", { type: "module" });
        await answered(worker, { url, bodies }, [...bodies.values()]);
        for (const request of requests) {
          const answer = (await answered(worker, request)) as { content: unknown };
          if (answer.content === null) throw new Error(`no answer to ${request.content.kind}`);
        }
        worker.terminate();
      }),
    );
    return performance.now() - began;
  });
  await context.close();
  const bytes = lengths.reduce((a, b) => a + b, 0);
  return { work, sent, n: lengths.length / 2, bytes, bare: await bare(setting, lengths) };
}

// The library alone, in a Worker of a page of the same server: nothing is read, compared or followed.
async function bare(setting: Setting, lengths: readonly number[]): Promise<number> {
  const { page, context } = await openThread(setting);
  const folder = new URL("../../node_modules/@noble/hashes/", import.meta.url).pathname;
  await context.route("**/figures/**", (route) => {
    const name = new URL(route.request().url()).pathname.replace("/figures/", "");
    if (name !== "worker.js") return route.fulfill({ path: folder + name, contentType: "text/javascript" });
    const body = `import { sha256 } from "./sha2.js";
      onmessage = ({ data }) => {
        const all = data.map((n) => crypto.getRandomValues(new Uint8Array(n)));
        const began = performance.now();
        for (const bytes of all) sha256(bytes);
        postMessage(performance.now() - began);
      };`;
    return route.fulfill({ body, contentType: "text/javascript" });
  });
  const took = await page.evaluate(
    (data) =>
      new Promise<number>((resolve, reject) => {
        const worker = new Worker("/figures/worker.js", { type: "module" });
        worker.onmessage = (event: MessageEvent<number>) => resolve(event.data);
        worker.onerror = () => reject(new Error("the bare Worker failed"));
        worker.postMessage(data);
      }),
    [...lengths],
  );
  await context.close();
  return took;
}
