import type { Page } from "playwright-core";
import { forget, framesOf, tasksOf } from "./probe";
import { type Figure, quantile } from "./report";
import { openThread, type Setting } from "./setting";

/** How long the chain of the whole thread takes to recompute, and whether the page can be used meanwhile. */
export async function verifying(setting: Setting): Promise<Figure[]> {
  const { page, context } = await openThread(setting);
  const { total, blocked, frames } = await verified(page);
  await context.close();
  const { work, n, bytes, bare } = await replayed(setting);
  const how = `what the page sent to its Worker, sent once more to another one: ${n} messages`;
  return [
    {
      name: `${n} hashes verified: fields, contents, links and Merkle proofs`,
      limit: 1_500,
      measured: work.check,
      unit: "ms",
      how,
      beside: {
        measured: bare,
        what: `SHA-256 of the same ${Math.round(bytes / 1e6)} MB, two digests a message, in a bare Worker, same library`,
      },
    },
    {
      name: "– reading the API's answers in the Worker",
      limit: null,
      measured: work.page,
      unit: "ms",
      how: "the same, what is JSON of it",
    },
    {
      name: "– from the click to the verdict, with fetching",
      limit: null,
      measured: total,
      unit: "ms",
      how: "until the browser's verdict is shown; the server checks meanwhile, too",
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

type Sent = { requests: { kind: string; body?: ArrayBuffer }[]; url: string };

// Keeps what the page sends to its Worker, and sends it to a fresh one: the same work without fetching.
async function replayed(setting: Setting) {
  const { page, context } = await openThread(setting);
  await page.evaluate(() => {
    const sent: Sent = { requests: [], url: "" };
    const global = globalThis as unknown as { sent: Sent; Worker: typeof Worker; plain: typeof Worker };
    global.sent = sent;
    global.plain = Worker;
    global.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        sent.url = String(url);
      }
      override postMessage(request: Sent["requests"][number]): void {
        sent.requests.push(request.body ? { ...request, body: request.body.slice() } : request);
        super.postMessage(request);
      }
    };
  });
  await verified(page);
  const lengths = await page.evaluate(() => {
    type Checked = { integrity: { preimage: string; contentPreimage: string | null } };
    type Answer = { data: { session: { messages: { edges: { node: Checked }[] } } } };
    const bytes = (base64: string | null) => Math.floor(((base64?.length ?? 0) * 3) / 4);
    return (globalThis as unknown as { sent: Sent }).sent.requests.flatMap(({ body }) => {
      if (!body) return [];
      const { edges } = (JSON.parse(new TextDecoder().decode(body)) as Answer).data.session.messages;
      return edges.flatMap(({ node: { integrity: i } }) => [bytes(i.preimage), bytes(i.contentPreimage)]);
    });
  });
  const work = await page.evaluate(async () => {
    const { sent, plain } = globalThis as unknown as { sent: Sent; plain: typeof Worker };
    const worker = new plain(sent.url, { type: "module" });
    const took = { page: 0, check: 0 };
    for (const request of sent.requests) {
      const began = performance.now();
      await new Promise((resolve) => {
        worker.onmessage = resolve;
        worker.postMessage(request, request.body ? [request.body] : []);
      });
      took[request.kind === "page" ? "page" : "check"] += performance.now() - began;
    }
    worker.terminate();
    return took;
  });
  await context.close();
  return { work, n: lengths.length / 2, bytes: lengths.reduce((a, b) => a + b, 0), bare: await bare(setting, lengths) };
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
