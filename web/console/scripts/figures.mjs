// Runs e2e/figures, which are in TypeScript: npm run figures -- --help
import { runnerImport } from "vite";

const entry = new URL("../e2e/figures/main.ts", import.meta.url).pathname;
const { module } = await runnerImport(entry, { configFile: false, logLevel: "error" });
await module.main(process.argv.slice(2));
