import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

const folder = new URL("../src/words", import.meta.url).pathname;
const areas = readdirSync(join(folder, "en")).map((name) => name.replace(/\.json$/, ""));

/**
 * Compiles the catalogues of src/words, so that no parser of messages is sent to the browser, and has each module that
 * names an area's messages load that area in the reader's language.
 */
export function words(): Plugin {
  return {
    name: "words",
    enforce: "pre",
    resolveId(id) {
      return id.startsWith("words:") ? `\0${id}` : null;
    },
    load(id) {
      if (!id.startsWith("\0words:")) return null;
      const name = id.slice("\0words:".length);
      if (name === "all") return `export default ${JSON.stringify({ en: whole("en"), es: whole("es") })};`;
      if (!name.includes("/")) {
        return `import { need } from ${JSON.stringify(join(folder, "load.ts"))};
          need("${name}", { en: () => import("words:en/${name}"), es: () => import("words:es/${name}") });`;
      }
      const file = join(folder, `${name}.json`);
      this.addWatchFile(file);
      return `export default ${JSON.stringify(compiled(name))};`;
    },
    transform(code, id) {
      if (process.env.VITEST || !/\/src\/.*\.tsx?$/.test(id) || id.startsWith(folder)) return null;
      const used = areas.filter((area) => new RegExp(`["'\`]${area}\\.[\\w$]`).test(code));
      if (used.length === 0) return null;
      return { code: used.map((area) => `import "words:${area}";`).join("") + code, map: null };
    },
  };
}

// The messages of a catalogue, "en/ui", by their whole names. Throws at the first that is not ICU.
function compiled(name: string): Record<string, unknown[]> {
  const messages = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Record<string, string>;
  const area = name.slice(3);
  return Object.fromEntries(Object.entries(messages).map(([key, m]) => [`${area}.${key}`, compileMessageOrThrow(m)]));
}

const whole = (language: string) => Object.assign({}, ...areas.map((area) => compiled(`${language}/${area}`)));
