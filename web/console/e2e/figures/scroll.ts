import type { Page } from "playwright-core";
import { forget, framesOf, nodesOf, tasksOf } from "./probe";
import { type Figure, quantile } from "./report";
import { blank, listOf, openThread, type Setting } from "./setting";

const presses = 50;
const paces = { "pressed five times a second": 200, "held down, 30 a second": 33 };

/** How evenly frames follow each other while a reader pages through the thread. */
export async function scroll(setting: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [words, pace] of Object.entries(paces)) {
    const bare = await plain(setting, pace);
    const { page, context } = await openThread(setting);
    await listOf(page).focus();
    const frames = await pageDown(page, pace);
    const tasks = await tasksOf(page);
    const beside = { measured: quantile(bare, 0.95), what: "the same keys in a plain document of 2,000 paragraphs" };
    const longest = Math.max(...frames);
    figures.push(
      {
        name: `frames, p95 of ${presses} page-downs, ${words}`,
        limit: 20,
        measured: quantile(frames, 0.95),
        unit: "ms",
        how: `between calls of requestAnimationFrame, ${frames.length} frames, the longest ${Math.round(longest)} ms, ${tasks.length} tasks of 50 ms and more`,
        beside,
      },
      {
        name: "– nodes of the document meanwhile",
        limit: 1_500,
        measured: await nodesOf(page),
        unit: "",
        how: "the most after any change",
      },
    );
    await context.close();
  }
  return figures;
}

async function pageDown(page: Page, pace: number): Promise<number[]> {
  await page.waitForTimeout(500);
  await forget(page);
  for (let i = 0; i < presses; i++) {
    const before = Date.now();
    await page.keyboard.press("PageDown");
    await page.waitForTimeout(Math.max(0, pace - (Date.now() - before)));
  }
  return framesOf(page);
}

// What scrolling costs without a console: the same keys move a box of text, at once, as the thread does.
async function plain(setting: Setting, pace: number): Promise<number[]> {
  const { page, context } = await blank(setting);
  await page.setContent("<!doctype html><body></body>");
  await page.evaluate(() => {
    const box = document.body;
    box.style.cssText = "height: 100vh; overflow: auto; margin: 0";
    const words = "breakfast room view lake boat evening train ticket harbour quiet window table ".repeat(4);
    for (let i = 0; i < 2_000; i++)
      box.append(Object.assign(document.createElement("p"), { textContent: `${i} ${words}` }));
    addEventListener("keydown", (event) => {
      event.preventDefault();
      box.scrollTop += 0.9 * box.clientHeight;
    });
  });
  const frames = await pageDown(page, pace);
  await context.close();
  return frames;
}
