import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { Checkpoint } from "./query";

/** What is taken away of checkpoints; the note is what was signed, as it is. */
export const checkpointColumns = (): Column<Checkpoint>[] => [
  { id: "size", head: t("table.head.size"), value: (c) => c.size },
  { id: "root", head: t("table.head.root"), value: (c) => c.root },
  { id: "signedAt", head: t("table.head.signed"), value: (c) => c.signedAt },
  { id: "cosignatures", head: t("table.head.cosignatures"), value: (c) => c.cosignatures },
  { id: "note", head: t("table.head.signedNote"), value: (c) => c.note },
];
