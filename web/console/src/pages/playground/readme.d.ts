declare module "readme:examples" {
  /** The README's examples, in its order; variables: JSON, or empty. */
  const examples: readonly { title: string; query: string; variables: string }[];
  export default examples;
}
