import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { ThreadRow } from "./query";

/** What is taken away of threads. */
export const threadColumns = (): Column<ThreadRow>[] => [
  { id: "hash", head: t("table.head.hash"), value: (r) => r.hash },
  { id: "players", head: t("threads.column.players"), value: (r) => r.players.map(nameOf).join("; ") },
  { id: "messages", head: t("threads.column.messages"), value: (r) => r.messageCount },
  { id: "started", head: t("threads.column.started"), value: (r) => r.startedAt },
  { id: "last", head: t("threads.column.last"), value: (r) => r.lastMessageAt },
  { id: "lastBy", head: t("threads.column.lastBy"), value: (r) => nameOf(r.lastMessage.owner) },
  { id: "lastText", head: t("threads.column.lastText"), value: (r) => r.lastMessage.content },
];
