import type { Page } from "playwright-core";
import { type Interaction, interaction, nodesOf } from "./probe";
import { type Figure, quantile } from "./report";
import { blank, listOf, openThread, type Setting } from "./setting";

const rounds = 3;

type Act = [name: string, act: (page: Page) => Promise<void>];

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).first();
const panel = (page: Page) => page.getByRole("complementary", { name: "Message" });
const key =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.keyboard.press(name);

// The n-th message that is wholly in view.
async function row(page: Page, n: number): Promise<void> {
  const box = await listOf(page).boundingBox();
  const rows = await page.locator("article").all();
  let seen = 0;
  for (const r of rows) {
    const at = await r.boundingBox();
    if (!at || !box || at.y < box.y || at.y + at.height > box.y + box.height) continue;
    if (seen++ === n) return page.mouse.click(at.x + at.width / 2, at.y + at.height - 4);
  }
  throw new Error("no such row in view");
}

async function scrub(page: Page, share: number): Promise<void> {
  const at = await page.getByRole("slider").boundingBox();
  if (at) await page.mouse.click(at.x + at.width / 2, at.y + at.height * share);
}

async function step(page: Page, field: string, by: "ArrowDown" | "ArrowUp"): Promise<void> {
  await page.getByLabel(field).focus();
  await page.keyboard.press(by);
}

// Each kind of control of the page, in an order in which each finds what it needs.
const acts: Act[] = [
  ["open a message", (page) => row(page, 0)],
  ["open another", (page) => row(page, 1)],
  ["J, to the next", key("j")],
  ["K, to the one before", key("k")],
  ["copy its link", (page) => panel(page).getByRole("button", { name: /link/i }).first().click()],
  ["verify this message", (page) => button(page, "Verify this message").click()],
  ["Enter, to the message in full", key("Enter")],
  ["Escape, back", key("Escape")],
  ["Escape, close the panel", key("Escape")],
  ["the scrubber, to the middle", (page) => scrub(page, 0.5)],
  ["M, to the next mark", key("m")],
  ["Shift+M, to the one before", key("Shift+M")],
  ["E, to the end", key("e")],
  ["page up", key("PageUp")],
  ["Home", key("Home")],
  ["jump, opened", (page) => button(page, "Jump to…").click()],
  [
    "jump, to message 70,000",
    async (page) => {
      await page.getByLabel("Number, date or hash").fill("70000");
      await page.keyboard.press("Enter");
    },
  ],
  ["filter by importance", (page) => step(page, "Importance", "ArrowDown")],
  ["filter by importance, off", (page) => step(page, "Importance", "ArrowUp")],
  ["filter by time", (page) => step(page, "Time", "ArrowDown")],
  ["filter cleared", (page) => button(page, "Clear the filter").click()],
  ["verify the thread", (page) => button(page, /^Verify/).click()],
  ["open a message meanwhile", (page) => row(page, 0)],
  ["verifying cancelled", (page) => button(page, "Cancel").click()],
  ["the palette", key("Control+k")],
  ["Escape, close the palette", key("Escape")],
  ["the help sheet", key("?")],
  ["Escape, close the help sheet", key("Escape")],
  ["dark", (page) => page.getByRole("radio", { name: "Dark" }).click()],
  ["light", (page) => page.getByRole("radio", { name: "Light" }).click()],
  ["to the list of threads", (page) => page.getByRole("link", { name: "Threads", exact: true }).click()],
];

/** How long each kind of click and key waits for its answer to be painted. */
export async function clicks(setting: Setting): Promise<Figure[]> {
  const all: Interaction[] = [];
  let nodes = 0;
  for (let i = 0; i < rounds; i++) {
    const { page, context } = await openThread(setting);
    for (const [name, act] of acts) all.push(await interaction(page, name, () => act(page)));
    nodes = Math.max(nodes, await nodesOf(page));
    await context.close();
  }
  const bare = await plain(setting);
  const worst = acts
    .map(([name]) => all.filter((a) => a.name === name).reduce((a, b) => (b.duration > a.duration ? b : a)))
    .toSorted((a, b) => b.duration - a.duration);
  const told = worst.map(({ name, duration, processing }) => `${name} ${duration} (${Math.round(processing)})`);
  setting.tell(`slowest of ${rounds}, ms from the input to the paint, and of them in handlers: ${told.join(", ")}`);
  const beside = { measured: Math.max(...bare), what: "a button that changes a word in a plain document" };
  const [slowest, second] = worst;
  return [
    {
      name: `the slowest of ${acts.length} kinds of clicks and keys`,
      limit: 100,
      measured: slowest?.duration ?? Number.NaN,
      unit: "ms",
      how: `event timing, from the input to the paint, ${rounds} of each: ${slowest?.name}; then ${second?.name}, ${second?.duration} ms`,
      beside,
    },
    {
      name: "– p50 of all",
      limit: 100,
      measured: quantile(
        all.map((a) => a.duration),
        0.5,
      ),
      unit: "ms",
      how: `${all.length} inputs`,
      beside: { ...beside, measured: quantile(bare, 0.5) },
    },
    {
      name: "– nodes of the document meanwhile",
      limit: 1_500,
      measured: nodes,
      unit: "",
      how: "the most after any change",
    },
  ];
}

async function plain(setting: Setting): Promise<number[]> {
  const { page, context } = await blank(setting);
  await page.setContent("<!doctype html><body></body>");
  await page.evaluate(() => {
    const made = Object.assign(document.createElement("button"), { textContent: "0" });
    made.onclick = () => {
      made.textContent = String(Number(made.textContent) + 1);
    };
    document.body.append(made);
  });
  const durations: number[] = [];
  for (let i = 0; i < 10; i++) {
    durations.push((await interaction(page, "plain", () => page.locator("button").click())).duration);
  }
  await context.close();
  return durations;
}
