import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { ComponentRow } from "./query";

/** What is taken away of components. */
export const componentColumns = (): Column<ComponentRow>[] => [
  { id: "hash", head: t("table.head.hash"), value: (c) => c.hash },
  { id: "kind", head: t("table.head.kind"), value: (c) => c.__typename },
  { id: "namespace", head: t("table.head.namespace"), value: (c) => c.namespace },
  { id: "key", head: t("table.head.key"), value: (c) => c.key },
  { id: "name", head: t("table.head.name"), value: (c) => c.name },
  { id: "description", head: t("table.head.description"), value: (c) => c.description },
];
