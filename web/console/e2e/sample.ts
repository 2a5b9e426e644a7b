import { startServer } from "./server";

/** Before all tests: a data directory with the sample log, made once. The tests' servers begin with copies of it. */
export default async function makeSample(): Promise<() => Promise<void>> {
  const server = await startServer();
  await server.halt();
  process.env.SAMPLE_DATA = server.dir;
  return server.stop;
}
