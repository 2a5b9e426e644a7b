import { type CombinedError, useQuery } from "urql";
import { namespaceOf } from "./kinds";
import { ComponentByKey, ComponentQuery, type Whole } from "./query";

const wholeHash = /^[0-9a-f]{64}$/;

/** What an address names: a component, or a hash that no row describes, or nothing. */
export type Found =
  | { kind: "loading" }
  | { kind: "failed"; error: CombinedError }
  | { kind: "described"; component: Whole }
  | { kind: "undescribed"; hash: string }
  | { kind: "nothing" };

/** Finds a component by its namespace and its key, or by its hash; again asks the server anew. */
export function useComponent(namespace: string, name: string): { found: Found; again: () => void } {
  const hash = wholeHash.test(name) ? name : null;
  const space = namespaceOf(namespace);
  const [byHash, again] = useQuery({ query: ComponentQuery, variables: { hash: hash ?? "" }, pause: hash === null });
  const [byKey, againByKey] = useQuery({
    query: ComponentByKey,
    variables: { namespace: space ?? "HST", key: name },
    pause: hash !== null || space === null,
  });
  const { fetching, error } = hash ? byHash : byKey;
  const component = hash
    ? byHash.data?.component
    : byKey.data?.components.edges.map((e) => e.node).find((c) => c.key === name);
  return { found: foundOf(), again: () => (hash ? again() : againByKey()) };

  function foundOf(): Found {
    if (!hash && !space) return { kind: "nothing" };
    if (component) return { kind: "described", component };
    if (error) return { kind: "failed", error };
    if (fetching) return { kind: "loading" };
    return hash ? { kind: "undescribed", hash } : { kind: "nothing" };
  }
}
