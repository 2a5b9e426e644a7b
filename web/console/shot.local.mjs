import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
const [path, out, locale="en-US", width="1280", js] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu"] });
const p = await (await b.newContext({ viewport: { width: +width, height: 900 }, locale })).newPage();
const token = readFileSync("/tmp/h/rest.data/admin.token","utf8").trim();
await p.goto(`http://127.0.0.1:18777/#token=${token}`);
await p.waitForTimeout(1500);
await p.goto(`http://127.0.0.1:18777${path}`);
await p.waitForTimeout(3000);
if (js) { await p.evaluate(js); await p.waitForTimeout(1500); }
await p.screenshot({ path: out });
await b.close();
