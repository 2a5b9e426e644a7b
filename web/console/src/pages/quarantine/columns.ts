import type { QuarantineOf } from "../../quarantine/query";
import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";

/** What is taken away of quarantines. The content of erased messages is empty. */
export const quarantineColumns = (): Column<QuarantineOf>[] => [
  { id: "message", head: t("table.head.message"), value: (q) => q.message.hash },
  { id: "owner", head: t("table.head.owner"), value: (q) => nameOf(q.message.owner) },
  { id: "sequence", head: t("table.head.sequence"), value: (q) => q.message.sequence },
  { id: "content", head: t("table.head.content"), value: (q) => q.message.content },
  { id: "reason", head: t("table.head.reason"), value: (q) => q.reason },
  { id: "placedBy", head: t("table.head.by"), value: (q) => nameOf(q.placedBy) },
  { id: "placedAt", head: t("table.head.at"), value: (q) => q.placedAt },
  { id: "releaseReason", head: t("table.head.releaseReason"), value: (q) => q.release?.reason ?? null },
  { id: "releasedAt", head: t("table.head.released"), value: (q) => q.release?.at ?? null },
];
