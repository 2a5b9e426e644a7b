import type { AnyVariables, Client, CombinedError, DocumentInput } from "urql";
import { SaidError } from "../words";
import type { Page } from "./pages";

/** Asks the server. Rejects with a CombinedError. */
export async function ask<Data, Variables extends AnyVariables>(
  client: Client,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const result = await client.query(query, variables).toPromise();
  if (result.error) throw result.error as CombinedError;
  if (result.data === undefined) throw new SaidError({ id: "api.empty" });
  return result.data;
}

type Connection<T> = {
  edges: { node: T }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
  totalCount?: number;
};

/** A connection as a page of a list. */
export function pageOf<T>(connection: Connection<T>): Page<T> {
  const { edges, pageInfo, totalCount } = connection;
  return { items: edges.map((e) => e.node), ...pageInfo, ...(totalCount !== undefined && { totalCount }) };
}
