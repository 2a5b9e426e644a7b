const plain = /^[\w.-]{1,63}$/; // a key of 64 digits would be taken for a hash

/**
 * Where a component is shown: by namespace and key, or by hash where its key is no plain word. One that no row describes
 * is of no namespace, and known by its hash alone.
 */
export function addressOf(thing: { hash: string; namespace?: string | null; key: string | null }): string {
  const { hash, namespace, key } = thing;
  if (!namespace) return `/components/any/${hash}`;
  return `/components/${namespace.toLowerCase()}/${key !== null && plain.test(key) ? key : hash}`;
}
