declare module "words:all" {
  /** Every message, compiled, by language and name: for tests. */
  const all: Record<"en" | "es", Record<string, unknown[]>>;
  export default all;
}

/** Has an area's words loaded; the build writes this import wherever words are used by their whole names. */
declare module "words:*";
