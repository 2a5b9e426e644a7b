import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { Event } from "./query";

/** What is taken away of events. The content of erased ones is empty. */
export const eventColumns = (): Column<Event>[] => [
  { id: "createdAt", head: t("thread.field.sent"), value: (e) => e.createdAt },
  { id: "eventType", head: t("thread.field.event"), value: (e) => e.eventType.toLowerCase() },
  { id: "role", head: t("thread.field.role"), value: (e) => e.role },
  { id: "importance", head: t("thread.field.importance"), value: (e) => e.importance },
  { id: "owner", head: t("table.head.owner"), value: (e) => nameOf(e.owner) },
  { id: "content", head: t("table.head.content"), value: (e) => e.content },
  { id: "payload", head: t("events.payload"), value: (e) => JSON.stringify(e.attachments) },
  { id: "tags", head: t("thread.field.tags"), value: (e) => e.hashtags.map(nameOf).join(" ") },
  { id: "channel", head: t("thread.field.channel"), value: (e) => e.channel },
  { id: "source", head: t("thread.field.source"), value: (e) => e.source },
  { id: "hash", head: t("table.head.hash"), value: (e) => e.hash },
];
