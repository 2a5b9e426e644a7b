import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { type Look, looks } from "./looks";
import type { Server } from "./server";
import { type Say, sayIn } from "./words";

export { startBrowser } from "./chromium";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// A theme changes colours, by CSS alone; no other of axe's rules, which look at names, roles, structure and sizes, reads them.
const colourRules = ["color-contrast", "link-in-text-block"];

/** A page of a fresh browser profile, and everything that must not have happened on it. */
export class Visit {
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly server: Server,
    /** The words of the browser's language. */
    readonly say: Say,
  ) {
    page.setDefaultTimeout(15_000);
    page.on("console", (m) => {
      if (m.type() === "error" || m.type() === "warning") this.complaints.push(`console: ${m.text()}`);
    });
    page.on("pageerror", (e) => this.complaints.push(`uncaught: ${e.message}`));
    page.on("request", (r) => this.own(r.url()));
    page.on("websocket", (w) => this.own(w.url().replace(/^ws/, "http")));
  }

  static async begin(browser: Browser, server: Server, look: Partial<Look> & { locale?: string } = {}): Promise<Visit> {
    const { theme = "light", width = 1280, height = 800, locale = "en-US" } = look;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale });
    return new Visit(await context.newPage(), context, server, sayIn(locale.startsWith("es") ? "es" : "en"));
  }

  /** Everything comes from the server itself, or from the page's own text. */
  private own(url: string): void {
    const fine = url.startsWith(`${this.server.base}/`) || url.startsWith("data:") || url.startsWith("blob:");
    if (!fine) this.complaints.push(`request to another origin: ${url}`);
  }

  /** Opens the console as the server's first address does, with a token in it: the administrator's, or another. */
  async signIn(path = "/", token = this.server.token): Promise<void> {
    await this.page.goto(`${this.server.base}${path}#token=${token}`);
    await this.page.getByRole("button", { name: this.say("app.account.leave") }).waitFor();
  }

  /** Opens an address; a full load. */
  async go(path: string): Promise<void> {
    await this.page.goto(this.server.base + path);
  }

  /** Waits until nothing is being loaded, moved or drawn anew: for a third of a second, nothing changes. */
  async quiet(stillness = 333): Promise<void> {
    await this.page.evaluate(
      (stillness) =>
        new Promise<void>((resolve, reject) => {
          const began = performance.now();
          let since = began;
          let last = "nothing";
          const watch = new MutationObserver(([change]) => {
            since = performance.now();
            last = change?.target.parentElement?.outerHTML.slice(0, 300) ?? "";
          });
          watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
          const look = () => {
            const busy = document.querySelector("[aria-busy=true]");
            if (busy || document.fonts.status === "loading") since = performance.now();
            const still = performance.now() - since < stillness;
            if (still && performance.now() - began < 15_000) return setTimeout(look, 30);
            watch.disconnect();
            if (still) reject(new Error(`never quiet: busy ${busy?.outerHTML.slice(0, 300)}, changed last ${last}`));
            else resolve();
          };
          look();
        }),
      stillness,
    );
    await this.settled();
  }

  // Colours of a control that is just being faded are not those that it ends with.
  private async settled(): Promise<void> {
    await this.page.evaluate(() => {
      const fading = document
        .getAnimations()
        .filter((a) => a.playState === "running" && a.effect?.getTiming().iterations !== Number.POSITIVE_INFINITY);
      const late = new Promise((resolve) => setTimeout(resolve, 5_000)); // of what is not drawn, none may ever end
      return Promise.race([Promise.allSettled(fading.map((a) => a.finished)), late]).then(() => undefined);
    });
  }

  /** What is cut off at the sides of the window, where nothing scrolls to it; and what scrolls that should not. */
  cutOff(): Promise<string[]> {
    return this.page.evaluate(() => {
      const wide = window.innerWidth;
      const { scrollWidth, scrollHeight } = document.documentElement;
      const found = scrollWidth > wide ? ["the page itself"] : [];
      // The console's frame fills the window: what scrolls is in it.
      if (document.querySelector("#main") && scrollHeight > window.innerHeight) found.push("the frame");
      for (const e of document.querySelectorAll<HTMLElement>("body *")) {
        if (e.closest(".monaco-editor")) continue; // it scrolls by itself
        const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent?.trim());
        const { left, right, width } = e.getBoundingClientRect();
        if (!own || width < 2 || !e.checkVisibility({ visibilityProperty: true }) || e.getAttribute("href") === "#main")
          continue;
        if (right <= wide + 1 && left >= -1) continue;
        let reached = false;
        for (let up: HTMLElement | null = e; up && !reached; up = up.parentElement) {
          const style = getComputedStyle(up);
          reached = style.textOverflow === "ellipsis" || /auto|scroll/.test(style.overflowX);
        }
        if (!reached) found.push(`${e.tagName.toLowerCase()} “${e.textContent?.trim().slice(0, 60)}”`);
      }
      return found;
    });
  }

  /** Presses Tab until the focus is on what has this name. */
  async tabTo(wanted: RegExp): Promise<void> {
    for (let i = 0; i < 80; i++) {
      await this.page.keyboard.press("Tab");
      if (wanted.test(await this.focused())) return;
    }
    throw new Error(`Tab never reached ${wanted}`);
  }

  /** The name of what has the focus: its label, or its text. */
  focused(): Promise<string> {
    return this.page.evaluate(() => {
      const at = document.activeElement;
      const label =
        at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement
          ? at.labels?.[0]?.textContent
          : at?.textContent;
      return at?.getAttribute("aria-label") ?? label ?? "";
    });
  }

  /** Expects that axe finds nothing on the page as it is; or only what these of its rules find. */
  async accessible(where: string, rules?: string[]): Promise<void> {
    await this.settled();
    if (!(await this.page.evaluate(() => "axe" in globalThis))) await this.page.evaluate(axeSource);
    const found = await this.page.evaluate(async (rules) => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await checker.run({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
      return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(" | ")}`);
    }, rules); // what passed is of no interest: to bring it here takes longer than the check
    expect(found, `axe on ${where}`).toEqual([]);
  }

  /**
   * Gives the page another theme or size, and waits until it has it. A page that was still asks for little then: it is
   * drawn within a few frames, and what is loaded says that it is busy.
   */
  async seen({ theme, width, height }: Look): Promise<void> {
    await this.page.emulateMedia({ colorScheme: theme });
    await this.page.setViewportSize({ width, height });
    await this.quiet(100);
  }

  /**
   * Expects of the page as it is that axe finds nothing, and that nothing is cut off, in every look; it has the first of
   * them again after that. shown: what has to be there in each, so that it is still this state. All rules are asked at
   * every width, as what a width hides has no name or role either; of another theme only those that look at colours.
   */
  async everyLook(where: string, shown: Locator, all: readonly Look[] = looks): Promise<void> {
    await this.quiet();
    let width = 0;
    for (const look of all) {
      await this.seen(look);
      const here = `${where}, ${look.theme}, ${look.width} wide`;
      await shown.first().waitFor();
      await this.accessible(here, look.width === width ? colourRules : undefined);
      expect(await this.cutOff(), `cut off on ${here}`).toEqual([]);
      width = look.width;
      const folder = process.env.SCREENSHOTS;
      if (folder) await this.page.screenshot({ path: `${folder}/${here.replace(/\W+/g, "-")}.png` });
    }
    if (all[0]) await this.seen(all[0]);
  }

  /** Ends the visit, and expects no complaint but those that match. */
  async end(...expected: RegExp[]): Promise<void> {
    await this.context.close();
    expect(this.complaints.filter((c) => !expected.some((e) => e.test(c)))).toEqual([]);
  }
}
