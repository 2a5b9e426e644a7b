import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { SelectionRow } from "./query";

/** What a list of selections holds for whoever takes it away; who is null of an administrator. */
export const selectionColumns = (): Column<SelectionRow>[] => [
  { id: "createdAt", head: t("selections.when"), value: (s) => s.createdAt },
  { id: "player", head: t("selections.player"), value: (s) => s.player && nameOf(s.player) },
  { id: "query", head: t("selections.query"), value: (s) => s.query },
  { id: "items", head: t("selections.column.items"), value: (s) => s.items.length },
  { id: "tokens", head: t("selections.column.tokens"), value: (s) => s.tokens },
  { id: "tokenBudget", head: t("selection.asked.budget"), value: (s) => s.tokenBudget },
  { id: "receipt", head: t("selection.receipt"), value: (s) => s.receipt },
  { id: "id", head: "id", value: (s) => s.id },
];
