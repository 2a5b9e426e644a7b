import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { WindowRow } from "./query";

/** What is taken away of windows. */
export const windowColumns = (): Column<WindowRow>[] => [
  { id: "id", head: t("table.head.id"), value: (w) => w.id },
  { id: "name", head: t("table.head.name"), value: (w) => w.name },
  { id: "agent", head: t("windows.agent"), value: (w) => w.agent && nameOf(w.agent) },
  { id: "task", head: t("windows.task"), value: (w) => w.task },
  { id: "used", head: t("windows.used"), value: (w) => w.used },
  { id: "capacity", head: t("windows.capacity"), value: (w) => w.capacity },
  { id: "usage", head: t("windows.usage"), value: (w) => w.usage },
  { id: "level", head: t("windows.level"), value: (w) => w.level.toLowerCase() },
  { id: "createdAt", head: t("table.head.created"), value: (w) => w.createdAt },
];
