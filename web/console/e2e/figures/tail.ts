import { appendOne, lengthOf, playersOf } from "./fill";
import { heapOf, nodesOf, tasksOf } from "./probe";
import type { Figure } from "./report";
import { listOf, openThread, type Setting } from "./setting";

const hour = 3_600;
const atOnce = 4;

/** What a page holds after it followed an hour of a message a second, as fast as the server takes them. */
export async function tail(setting: Setting): Promise<Figure[]> {
  const { page, context, protocol } = await openThread(setting);
  const before = await heapOf(protocol);
  await listOf(page).focus();
  await page.keyboard.press("End");
  const from = await lengthOf(setting.server);
  const players = playersOf(setting.server);
  const began = Date.now();
  for (let i = 0; i < hour; i += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, k) => appendOne(setting.server, players, from + i + k)));
  }
  const took = (Date.now() - began) / 1_000;
  const length = await lengthOf(setting.server);
  await page.locator(`[aria-posinset="${length}"] article`).waitFor(); // the list followed to its end
  await page.waitForTimeout(1_000);
  const heap = await heapOf(protocol);
  const [nodes, tasks] = [await nodesOf(page), await tasksOf(page)];
  await context.close();
  return [
    {
      name: "heap after an hour of tail",
      limit: 80,
      measured: heap,
      unit: "MB",
      how: `${hour} messages appended in ${Math.round(took)} s while the list followed its end, then garbage collected`,
      beside: { measured: before, what: "the same page before" },
    },
    {
      name: "– nodes of the document meanwhile",
      limit: 1_500,
      measured: nodes,
      unit: "",
      how: "the most after any change",
    },
    {
      name: "– longest task meanwhile",
      limit: null,
      measured: Math.max(0, ...tasks),
      unit: "ms",
      how: `of ${tasks.length} of 50 ms and more`,
    },
  ];
}
