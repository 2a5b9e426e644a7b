import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import type { Server } from "../server";
import { thread } from "./fill";
import { probed, rowsAt } from "./probe";

/** What all figures are measured with. state: cookies and storage of who is signed in. */
export type Setting = {
  server: Server;
  browser: Browser;
  state: Awaited<ReturnType<BrowserContext["storageState"]>>;
  tell: (text: string) => void;
};

/** A page of a profile of its own, whose cache is empty. */
export type Opened = { page: Page; context: BrowserContext; protocol: CDPSession };

/** Signs in, as somebody who follows the server's first address. */
export async function signIn(server: Server, browser: Browser): Promise<Setting["state"]> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.base}/#token=${server.token}`);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** A page with probes, before it goes anywhere. */
export async function blank({ browser, state }: Setting): Promise<Opened> {
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({ viewport, locale: "en-US", storageState: state });
  await probed(context);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return { page, context, protocol: await context.newCDPSession(page) };
}

/** The long thread, with its first messages there. */
export async function openThread(setting: Setting): Promise<Opened> {
  const opened = await blank(setting);
  await opened.page.goto(threadAt(setting));
  await rowsAt(opened.page);
  await opened.page.waitForTimeout(1_500); // marks, words, the subscription
  return opened;
}

/** The long thread's address. */
export const threadAt = ({ server }: Setting): string => `${server.base}/threads/${thread}`;

/** The same server's plainest page: a drawing of a few lines. */
export const plainAt = ({ server }: Setting): string => `${server.base}/favicon.svg`;

/** The thread's list: what takes keys that scroll. */
export const listOf = (page: Page) => page.getByRole("region", { name: "messages" });
