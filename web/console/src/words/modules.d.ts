declare module "words:all" {
  /** Every message, compiled, by language and name: for tests. */
  const all: Record<"en" | "es", Record<string, unknown[]>>;
  export default all;
}
