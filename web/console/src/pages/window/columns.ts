import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { Aside, Item, Operation, Tool } from "./query";

/** What is taken away of items. */
export const itemColumns = (): Column<Item>[] => [
  { id: "id", head: t("table.head.id"), value: (i) => i.id },
  { id: "type", head: t("windows.type"), value: (i) => i.type },
  { id: "key", head: t("table.head.key"), value: (i) => i.key },
  { id: "content", head: t("table.head.content"), value: (i) => i.content },
  { id: "tokens", head: t("windows.tokens"), value: (i) => i.tokens },
  { id: "score", head: t("windows.quality"), value: (i) => i.quality.score },
  ...(["relevance", "freshness", "accuracy", "completeness", "consistency"] as const).map(
    (id): Column<Item> => ({ id, head: t(`windows.quality.${id}`), value: (i) => i.quality[id] }),
  ),
  { id: "verifiedBy", head: t("windows.column.verified"), value: (i) => i.verifiedBy?.hash ?? null },
  { id: "source", head: t("windows.column.source"), value: (i) => i.source?.hash ?? null },
  { id: "summaryOf", head: t("windows.column.summaryOf"), value: (i) => i.summaryOf.join(" ") },
  { id: "injected", head: t("windows.injected"), value: (i) => i.injected },
  { id: "observedAt", head: t("windows.column.observed"), value: (i) => i.observedAt },
  { id: "addedAt", head: t("windows.column.added"), value: (i) => i.addedAt },
];

/** What is taken away of operations. */
export const operationColumns = (): Column<Operation>[] => [
  { id: "id", head: t("table.head.id"), value: (o) => o.id },
  { id: "at", head: t("windows.column.at"), value: (o) => o.at },
  { id: "kind", head: t("windows.column.kind"), value: (o) => o.kind },
  { id: "by", head: t("windows.column.by"), value: (o) => o.by && nameOf(o.by) },
  { id: "tokensBefore", head: t("windows.column.before"), value: (o) => o.tokensBefore },
  { id: "tokensAfter", head: t("windows.column.after"), value: (o) => o.tokensAfter },
  { id: "tookMs", head: t("windows.column.took"), value: (o) => o.tookMs },
  { id: "type", head: t("windows.type"), value: (o) => o.type },
  { id: "content", head: t("table.head.content"), value: (o) => o.content },
  { id: "rejected", head: t("windows.outcome.REJECTED"), value: (o) => o.rejected },
  { id: "score", head: t("windows.quality"), value: (o) => o.quality?.score ?? null },
  {
    id: "mitigations",
    head: t("windows.mitigations"),
    value: (o) => o.mitigations.map((m) => `${m.failure} ${m.action}`).join(", "),
  },
  {
    id: "compression",
    head: t("windows.compression"),
    value: (o) => o.compression?.steps.map((s) => s.strategy).join(", ") ?? null,
  },
  { id: "overruled", head: t("windows.outcome.OVERRULED"), value: (o) => o.overruled },
];

/** What is taken away of a scratchpad: what it says has to be read one by one. */
export const asideColumns = (): Column<Aside>[] => [
  { id: "id", head: t("table.head.id"), value: (e) => e.id },
  { id: "type", head: t("windows.type"), value: (e) => e.type },
  { id: "tokens", head: t("windows.tokens"), value: (e) => e.tokens },
  { id: "createdAt", head: t("table.head.created"), value: (e) => e.createdAt },
];

/** What is taken away of tools. */
export const toolColumns = (): Column<Tool>[] => [
  { id: "name", head: t("table.head.name"), value: (tool) => tool.name },
  { id: "description", head: t("table.head.description"), value: (tool) => tool.description },
  { id: "tokens", head: t("windows.tokens"), value: (tool) => tool.tokens },
  { id: "shown", head: t("windows.tools.shown"), value: (tool) => tool.shown },
  { id: "schema", head: t("windows.tools.schema"), value: (tool) => JSON.stringify(tool.schema) },
];
