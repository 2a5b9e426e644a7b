import type { IconName } from "../../ui/icons";
import type { Level } from "./query";

/** From which shares of the capacity on a window is at a higher level, as the schema states them. */
export const thresholds = [0.7, 0.8, 0.9, 0.95] as const;

/** How bad a level is, and its icon: no level is told by its colour alone. */
export const looks: Record<Level, { tone: "good" | "warn" | "bad"; icon: IconName }> = {
  OK: { tone: "good", icon: "check" },
  WARNING: { tone: "warn", icon: "warning" },
  COMPRESS: { tone: "warn", icon: "down" },
  AGGRESSIVE: { tone: "bad", icon: "error" },
  CRITICAL: { tone: "bad", icon: "broken" },
};
