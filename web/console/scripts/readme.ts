import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const file = new URL("../../../README.md", import.meta.url).pathname;
const name = "readme:examples";

/** The README's examples, in its order: the words in bold before each, the request, and its variables as JSON. */
export function examplesIn(readme: string): { title: string; query: string; variables: string }[] {
  const found = readme.matchAll(
    /\*\*\d+\. ([^*]+?)\.?\*\*(?:(?!```)[\s\S])*?```graphql\n([\s\S]*?)```(?:\n\n```json\n([\s\S]*?)```)?/g,
  );
  return [...found].map(([, title = "", query = "", variables = ""]) => ({ title, query, variables }));
}

/** Gives the console the README's examples as a module: there is no copy of them that could differ. */
export function readme(): Plugin {
  return {
    name: "readme",
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load(id) {
      if (id !== `\0${name}`) return null;
      this.addWatchFile(file);
      const examples = examplesIn(readFileSync(file, "utf8"));
      if (examples.length === 0) throw new Error("the README has no examples");
      return `export default ${JSON.stringify(examples)};`;
    },
  };
}
