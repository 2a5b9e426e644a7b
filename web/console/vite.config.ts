import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vitest/config";
import { readme } from "./scripts/readme.ts";
import { words } from "./scripts/words.ts";

const dist = new URL("../dist", import.meta.url).pathname;
const server = process.env.CONSOLE_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [words(), readme(), react(), precompress()],
  build: {
    outDir: dist,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content policy has no data: addresses
    chunkSizeWarningLimit: 5000, // the playground's editor is large, and on a page of its own
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: "index.html", playground: "playground.html" },
      onLog(level, log, handler) {
        // "use no memo" in GraphiQL's files: an instruction to a compiler that has already run.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handler(level, log);
      },
    },
  },
  worker: { format: "es" },
  server: {
    proxy: { "/graphql": { target: server, ws: true }, "^/(session|stretch|export|log\\.pub)(\\?|$)": server },
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], setupFiles: ["src/words/setup.ts"], testTimeout: 60_000 },
});

// Writes name.gz beside each asset that shrinks, which the server sends as it is.
function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    closeBundle() {
      const folder = join(dist, "assets");
      for (const name of readdirSync(folder).filter((n) => /\.(js|css|svg|ttf)$/.test(n))) {
        const raw = readFileSync(join(folder, name));
        const packed = gzipSync(raw, { level: 9 });
        if (packed.length < raw.length * 0.9) writeFileSync(join(folder, `${name}.gz`), packed);
      }
    },
  };
}
