import { type AnyVariables, CombinedError, type DocumentInput, stringifyDocument } from "urql";

/**
 * Asks the server with no cache between, so that nothing of the answer is kept but by the caller; aborting cancels the
 * request. Rejects with a CombinedError, or with the signal's reason.
 */
export async function askApart<Data, Variables extends AnyVariables>(
  send: typeof fetch,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Data> {
  let response: Response | undefined;
  try {
    response = await send("/graphql", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      body: JSON.stringify({ query: stringifyDocument(query), operationName: nameOf(query), variables }),
      ...(signal && { signal }),
    });
    const { data, errors } = (await response.json()) as { data?: Data; errors?: { message: string }[] };
    if (errors) throw new CombinedError({ graphQLErrors: errors, response });
    if (data === undefined || data === null) throw new Error("The server answered without data.");
    return data;
  } catch (error) {
    if (error instanceof CombinedError || signal?.aborted) throw error;
    const failed = response && !response.ok ? new Error(`HTTP ${response.status}`) : error;
    throw new CombinedError({ networkError: failed instanceof Error ? failed : new Error(String(failed)), response });
  }
}

function nameOf(query: DocumentInput): string | undefined {
  if (typeof query === "string") return undefined;
  for (const definition of query.definitions) if ("name" in definition) return definition.name?.value;
  return undefined;
}
