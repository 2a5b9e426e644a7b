// What a page itself can tell of how it fares: asked for by its own clock, and not by that of the script.
import type { BrowserContext, CDPSession, Page } from "playwright-core";

/** An interaction as the browser times it: from the input until what it led to is painted. In steps of 8 ms. */
export type Interaction = { name: string; duration: number; processing: number };

type Kept = {
  frames: number[];
  tasks: number[];
  events: { id: number; name: string; duration: number; processing: number }[];
  rows: number | null;
  nodes: number;
};

/** Puts probes into every page of a context, before its own scripts run. */
export async function probed(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const kept: Kept = { frames: [], tasks: [], events: [], rows: null, nodes: 0 };
    (globalThis as unknown as { kept: Kept }).kept = kept;
    let before = Number.NaN;
    const frame = (now: number) => {
      if (!Number.isNaN(before)) kept.frames.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) kept.tasks.push(duration);
    }).observe({ type: "longtask", buffered: true });
    new PerformanceObserver((list) => {
      for (const e of list.getEntries() as PerformanceEventTiming[]) {
        const processing = e.processingEnd - e.processingStart;
        if (e.interactionId) kept.events.push({ id: e.interactionId, name: e.name, duration: e.duration, processing });
      }
    }).observe({ type: "event", durationThreshold: 16, buffered: true } as PerformanceObserverInit);
    new MutationObserver(() => {
      const now = document.getElementsByTagName("*").length;
      kept.nodes = Math.max(kept.nodes, now);
      if (kept.rows !== null || !document.querySelector("article")) return;
      kept.rows = 0;
      requestAnimationFrame(() => setTimeout(() => (kept.rows = performance.now())));
    }).observe(document, { childList: true, subtree: true });
  });
}

const keptOf = <T>(page: Page, pick: (kept: Kept) => T): Promise<T> =>
  page.evaluate(`(${pick.toString()})(globalThis.kept)`) as Promise<T>;

/** Forgets what was seen so far. */
export const forget = (page: Page): Promise<void> =>
  keptOf(page, (kept) => {
    kept.frames.length = kept.tasks.length = kept.events.length = 0;
  });

/** Milliseconds between frames, each. */
export const framesOf = (page: Page): Promise<number[]> => keptOf(page, (kept) => kept.frames);

/** Milliseconds that each long task blocked the page: those of 50 and more. */
export const tasksOf = (page: Page): Promise<number[]> => keptOf(page, (kept) => kept.tasks);

/** The most elements that the document had. */
export const nodesOf = (page: Page): Promise<number> => keptOf(page, (kept) => kept.nodes);

/** When the first message was painted, in milliseconds from the start of the navigation. */
export async function rowsAt(page: Page): Promise<number> {
  await page.waitForFunction(() => ((globalThis as unknown as { kept: Kept }).kept.rows ?? 0) > 0);
  return keptOf(page, (kept) => kept.rows ?? Number.NaN);
}

/** When something was first painted, in milliseconds from the start of the navigation. */
export async function paintAt(page: Page): Promise<number> {
  const at = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  await page.waitForFunction(at);
  return page.evaluate(at);
}

/** Carries out an input, and gives how long it took until it was painted: 8 ms and less where the browser lists none. */
export async function interaction(
  page: Page,
  name: string,
  act: () => Promise<void>,
  pause = 250, // nothing of what was before
): Promise<Interaction> {
  await page.waitForTimeout(pause);
  await forget(page);
  await act();
  await page.waitForTimeout(400);
  const events = await keptOf(page, (kept) => kept.events);
  const worst = events.reduce((a, b) => (b.duration > a.duration ? b : a), { duration: 8, processing: 0 });
  return { name, duration: worst.duration, processing: worst.processing };
}

/** The page's heap in MB after everything is collected that can be. */
export async function heapOf(session: CDPSession): Promise<number> {
  for (let i = 0; i < 3; i++) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1_000_000;
}
