import type { Said } from "./said";
import { t } from "./t";

/** What was said, in the reader's language. To be called while a component is drawn. */
export function say({ id, values = {} }: Said): string {
  const whole = Object.entries(values).map(([name, v]) => [name, typeof v === "object" ? say(v) : v] as const);
  return t(id, Object.fromEntries(whole));
}
