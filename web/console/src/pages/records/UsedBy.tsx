import { useCallback } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { Needs } from "../../app/Needs";
import { count, nameOf, short } from "../../ui/format";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import type { Shown } from "../../ui/table/Table";
import { t } from "../../words";
import { Part } from "./Part";
import { type UsedBy as Holder, UsedByQuery } from "./query";

/** The selections that held a record; whoever may not read selections is told so. */
export function UsedBy({ hash }: { hash: string }) {
  return (
    <Needs title={t("records.used.closed")} scope="context:select">
      <Selections hash={hash} />
    </Needs>
  );
}

function Selections({ hash }: { hash: string }) {
  const client = useClient();
  const fetchPage = useCallback(
    async (after: string | null) => {
      const { record } = await ask(client, UsedByQuery, { hash, after, count: after === null });
      return record ? pageOf(record.usedBy) : { items: [], endCursor: null, hasNextPage: false, totalCount: 0 };
    },
    [client, hash],
  );
  const pages = usePages<Holder>(fetchPage);
  return (
    <Part
      title={pages.totalCount === null ? t("records.used.untold") : t("records.used", { n: pages.totalCount })}
      what={t("records.used.what")}
      none={t("records.used.none")}
      id="usedBy"
      file={`used-by-${short(hash)}`}
      columns={columnsOf()}
      pages={pages}
      fetchPage={fetchPage}
      keyOf={(h) => h.id}
      request={{ query: UsedByQuery, variables: { hash, after: null, count: true } }}
    />
  );
}

const columnsOf = (): Shown<Holder>[] => [
  {
    id: "at",
    head: t("records.head.at"),
    value: (h) => h.createdAt,
    cell: (h) => (
      <Link href={`/selections/${encodeURIComponent(h.id)}`}>
        <Time at={h.createdAt} />
      </Link>
    ),
  },
  {
    id: "player",
    head: t("records.head.player"),
    value: (h) => (h.player ? nameOf(h.player) : null),
    cell: (h) => (h.player ? <PlayerName player={h.player} link /> : t("records.admin")),
  },
  {
    id: "position",
    head: t("records.head.position"),
    numeric: true,
    value: (h) => h.position,
    cell: (h) => count(h.position),
  },
  { id: "id", head: t("records.head.selection"), value: (h) => h.id, cell: (h) => <code>{h.id.slice(0, 12)}</code> },
];
