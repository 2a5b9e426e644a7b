import { createClient as createSocket, type Client as Socket } from "graphql-ws";
import { type Client, type CombinedError, cacheExchange, createClient, fetchExchange, mapExchange } from "urql";
import { codeOf } from "./errors";

/** The client for queries and mutations. unauthenticated is called whenever the server no longer knows who asks. */
export function newClient(unauthenticated: () => void): Client {
  const watch = (error: CombinedError) => {
    if (codeOf(error) === "UNAUTHENTICATED") unauthenticated();
  };
  return createClient({
    url: "/graphql",
    preferGetMethod: false,
    requestPolicy: "cache-and-network",
    // One answer to one request: never as a stream of events, which this client also takes unless told otherwise.
    fetchOptions: {
      credentials: "same-origin",
      headers: { accept: "application/graphql-response+json, application/json;q=0.9" },
    },
    exchanges: [mapExchange({ onError: watch }), cacheExchange, fetchExchange],
  });
}

/** The client for subscriptions: graphql-transport-ws, connected only while something is subscribed to. */
export function newSocket(): Socket {
  const url = () => `${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}/graphql`;
  return createSocket({ url, lazy: true, retryAttempts: 3 });
}
