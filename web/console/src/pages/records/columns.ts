import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { RecordRow } from "./query";

/** What is taken away of records. */
export const recordColumns = (): Column<RecordRow>[] => [
  { id: "hash", head: t("table.head.hash"), value: (r) => r.hash },
  { id: "kind", head: t("table.head.kind"), value: (r) => r.kind },
  { id: "book", head: t("table.head.book"), value: (r) => r.book },
  { id: "title", head: t("table.head.title"), value: (r) => r.title },
  { id: "verified", head: t("table.head.verified"), value: (r) => r.verified },
  { id: "createdAt", head: t("table.head.created"), value: (r) => r.createdAt },
];
