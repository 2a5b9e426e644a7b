import { type Browser, chromium } from "playwright-core";

/** Starts the browser: CHROMIUM, or Debian's. */
export function startBrowser(): Promise<Browser> {
  const quiet = ["quic", "background-networking", "component-update", "sync", "gpu"].map((name) => `--disable-${name}`);
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-first-run", ...quiet, ...root] });
}
