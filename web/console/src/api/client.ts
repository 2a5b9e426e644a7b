import { createClient as createSocket, type Client as Socket } from "graphql-ws";
import { type Client, type CombinedError, createClient, fetchExchange, mapExchange } from "urql";
import type { Comeback } from "./comeback";
import { codeOf, describe } from "./errors";

/**
 * The client for queries and mutations. What the server refuses because the session has ended waits for a comeback. It
 * keeps no answer that no page shows: memory stays as it is however much is read, and what is erased is gone here too.
 */
export function newClient(comeback: Comeback): Client {
  const watch = (error: CombinedError) => {
    if (codeOf(error) === "UNAUTHENTICATED") comeback.ended(describe(error).detail);
  };
  return createClient({
    url: "/graphql",
    fetch: comeback.fetch,
    preferGetMethod: false,
    requestPolicy: "network-only",
    // One answer to one request: never as a stream of events, which this client also takes unless told otherwise.
    fetchOptions: {
      credentials: "same-origin",
      headers: { accept: "application/graphql-response+json, application/json;q=0.9" },
    },
    exchanges: [mapExchange({ onError: watch }), fetchExchange],
  });
}

const unauthorized = 4401; // what graphql-transport-ws closes with if the server does not know who asks

/**
 * The client for subscriptions: graphql-transport-ws, connected only while something is subscribed to. ended is called
 * if the server closes it because it no longer knows who asks.
 */
export function newSocket(ended?: (reason: string) => void): Socket {
  const closed = (event: unknown) => {
    if (event instanceof CloseEvent && event.code === unauthorized) ended?.(event.reason);
  };
  const url = () => `${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}/graphql`;
  return createSocket({ url, lazy: true, retryAttempts: 3, on: { closed } });
}
