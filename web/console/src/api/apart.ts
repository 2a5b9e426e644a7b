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
  const { data, errors, response } = await answered(send, query, variables, signal);
  if (errors) throw new CombinedError({ graphQLErrors: errors, response });
  return data;
}

/** What the server gave, and in words what it could not give of it; problem is empty if nothing. */
export type Partly<Data> = { data: Data; problem: string };

/** Asks as askApart does, and takes an answer from which parts are missing. Rejects if there is none at all. */
export async function askApartly<Data, Variables extends AnyVariables>(
  send: typeof fetch,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Partly<Data>> {
  const { data, errors } = await answered(send, query, variables, signal);
  return { data, problem: [...new Set(errors?.map((e) => e.message))].join(" ") };
}

/** Asks as askApart does, and gives the answer's bytes as they came: for a Worker, so that this thread need not read them. */
export async function askBytes<Data, Variables extends AnyVariables>(
  send: typeof fetch,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<{ body: ArrayBuffer; response: Response }> {
  try {
    const response = await posted(send, query, variables, signal);
    return { body: await response.arrayBuffer(), response };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CombinedError({ networkError: error instanceof Error ? error : new Error(String(error)) });
  }
}

function posted<Data, Variables extends AnyVariables>(
  send: typeof fetch,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
  signal: AbortSignal | undefined,
): Promise<Response> {
  return send("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    credentials: "same-origin",
    cache: "no-store",
    body: JSON.stringify({ query: stringifyDocument(query), operationName: nameOf(query), variables }),
    ...(signal && { signal }),
  });
}

type Answered<Data> = { data: Data; errors?: { message: string }[]; response: Response };

async function answered<Data, Variables extends AnyVariables>(
  send: typeof fetch,
  query: DocumentInput<Data, Variables>,
  variables: Variables,
  signal: AbortSignal | undefined,
): Promise<Answered<Data>> {
  let response: Response | undefined;
  try {
    response = await posted(send, query, variables, signal);
    const { data, errors } = (await response.json()) as { data?: Data | null; errors?: { message: string }[] };
    if (data !== undefined && data !== null) return { data, response, ...(errors && { errors }) };
    if (errors) throw new CombinedError({ graphQLErrors: errors, response });
    throw new Error("The server answered without data.");
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
