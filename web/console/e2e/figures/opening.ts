import { forget, interaction } from "./probe";
import type { Figure } from "./report";
import { openThread, type Setting } from "./setting";

const rounds = 5;
const soon = 100; // milliseconds after the check began

/** How long a message takes to open that is asked for just when a check of the whole thread has begun. */
export async function opening(setting: Setting): Promise<Figure[]> {
  const durations: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const { page, context } = await openThread(setting);
    await page.locator("[data-open-index]").nth(1).focus();
    await page.keyboard.press("v");
    await page.waitForTimeout(soon);
    await forget(page);
    const { duration } = await interaction(page, "open", () => page.keyboard.press("Enter"), 0);
    await page.getByRole("complementary", { name: "Message" }).getByRole("heading", { name: "Integrity" }).waitFor();
    durations.push(duration);
    await context.close();
  }
  return [
    {
      name: "a message opened 0.1 s after verifying began",
      limit: 100,
      measured: Math.max(...durations),
      unit: "ms",
      how: `event timing, from the key to the paint, the slowest of ${rounds}: ${durations.join(", ")}`,
    },
  ];
}
