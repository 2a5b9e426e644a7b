import { useCallback } from "react";
import { useClient } from "urql";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { short } from "../../ui/format";
import { t } from "../../words";
import { citedColumns } from "../references/CitedBy";
import type { Cited } from "../references/query";
import { Part } from "./Part";
import { RecordCitedByQuery } from "./query";

/** The messages that were sent with a record. */
export function CitedBy({ hash }: { hash: string }) {
  const client = useClient();
  const fetchPage = useCallback(
    async (after: string | null) => {
      const { record } = await ask(client, RecordCitedByQuery, { hash, after, count: after === null });
      return record ? pageOf(record.citedBy) : { items: [], endCursor: null, hasNextPage: false, totalCount: 0 };
    },
    [client, hash],
  );
  const pages = usePages<Cited>(fetchPage);
  return (
    <Part
      title={pages.totalCount === null ? t("records.cited.untold") : t("records.cited", { n: pages.totalCount })}
      what={t("ui.list.messages")}
      none={t("records.cited.none")}
      id="sentWith"
      file={`sent-with-${short(hash)}`}
      columns={citedColumns()}
      pages={pages}
      fetchPage={fetchPage}
      keyOf={(m) => m.hash}
      request={{ query: RecordCitedByQuery, variables: { hash, after: null, count: true } }}
    />
  );
}
