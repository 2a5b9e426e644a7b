// Prints what the built console weighs, compressed: the first route, which is what index.html names, and what each page
// adds to it. Not counted are words, of which only those of one language come, and what a page itself fetches later.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const dist = new URL("../../dist/", import.meta.url);
const size = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length;
const sum = (names) => names.reduce((n, name) => n + size(name), 0);
const line = (what, bytes, most) =>
  process.stdout.write(
    `${what.padEnd(20)}${(bytes / 1000).toFixed(1).padStart(7)} kB of ${most}${bytes > most * 1000 ? "  OVER" : ""}\n`,
  );

const first = [...readFileSync(new URL("index.html", dist), "utf8").matchAll(/assets\/[^"]+\.(?:js|css)/g)].map(
  ([n]) => n,
);
line("first route", sum(first), 130);

const entry = readFileSync(
  new URL(
    first.find((n) => /\/index-.*\.js$/.test(n)),
    dist,
  ),
  "utf8",
);
const [, listed] = /m\.f=(\[[^\]]*\])/.exec(entry) ?? [];
const files = JSON.parse(listed);
const pages = [
  ...entry.matchAll(/import\(`?"?\.\/(\w+Page)-[^)]*\)(?:\.then\([^)]*\))?,__vite__mapDeps\((\[[^\]]*\])\)/g),
];
if (pages.length === 0) throw new Error(`no page found in ${readdirSync(dist).length} files: was it built otherwise?`);
for (const [, page, deps] of pages)
  line(
    page,
    sum(
      JSON.parse(deps)
        .map((i) => files[i])
        .filter((n) => !first.includes(n)),
    ),
    80,
  );
