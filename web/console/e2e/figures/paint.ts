import { nodesOf, paintAt, rowsAt } from "./probe";
import { type Figure, median } from "./report";
import { blank, plainAt, type Setting, threadAt } from "./setting";

const times = 5;

/** How soon a thread paints: with an empty cache, and once the browser has the console's files. */
export async function paint(setting: Setting): Promise<Figure[]> {
  const [plain, cold, coldRows, warm, warmRows, nodes] = Array.from({ length: 6 }, (): number[] => []) as Six;
  for (let i = 0; i <= times; i++) {
    const { page, context } = await blank(setting);
    await page.goto(plainAt(setting));
    const bare = await paintAt(page);
    await page.goto(threadAt(setting));
    const [first, rows] = [await paintAt(page), await rowsAt(page)];
    await page.waitForTimeout(1_500);
    nodes.push(await nodesOf(page));
    await page.goto(threadAt(setting));
    const [again, rowsAgain] = [await paintAt(page), await rowsAt(page)];
    await context.close();
    if (i === 0) continue; // the server and the browser have just started
    plain.push(bare);
    cold.push(first);
    coldRows.push(rows);
    warm.push(again);
    warmRows.push(rowsAgain);
  }
  const beside = { measured: median(plain), what: "`/favicon.svg` by itself, same server" };
  const how = `paint timing of a new profile, median of ${times}`;
  const marked = `after the first message is in the document and a frame has passed, median of ${times}`;
  return [
    { name: "first contentful paint", limit: 300, measured: median(cold), unit: "ms", how, beside },
    {
      name: "– with the files cached",
      limit: 300,
      measured: median(warm),
      unit: "ms",
      how: "the same, opened again",
      beside,
    },
    { name: "– first messages painted", limit: null, measured: median(coldRows), unit: "ms", how: marked },
    {
      name: "– first messages painted, files cached",
      limit: null,
      measured: median(warmRows),
      unit: "ms",
      how: marked,
    },
    {
      name: "nodes of the document, at its opening",
      limit: 1_500,
      measured: Math.max(...nodes),
      unit: "",
      how: "the most after any change",
    },
  ];
}

type Six = [number[], number[], number[], number[], number[], number[]];
