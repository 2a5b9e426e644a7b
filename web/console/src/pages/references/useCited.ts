import { useCallback } from "react";
import { useClient } from "urql";
import { type FetchPage, type Page, type Pages, usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { type Cited, CitedByQuery } from "./query";

const none: Page<Cited> = { items: [], endCursor: null, hasNextPage: false, totalCount: 0 };

/** How the messages are fetched that were sent with a message. */
export function useFetchCited(hash: string): FetchPage<Cited> {
  const client = useClient();
  return useCallback(
    async (after: string | null) => {
      const { message } = await ask(client, CitedByQuery, { hash, after, count: after === null });
      return message ? pageOf(message.citedBy) : none;
    },
    [client, hash],
  );
}

/** The messages that were sent with a message, oldest first. */
export const useCited = (hash: string): Pages<Cited> => usePages(useFetchCited(hash));
