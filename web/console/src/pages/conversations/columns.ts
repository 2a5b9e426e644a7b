import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { ConversationRow } from "./query";

/** What is taken away of conversations. */
export const conversationColumns = (): Column<ConversationRow>[] => [
  { id: "id", head: t("table.head.id"), value: (c) => c.id },
  { id: "createdAt", head: t("conversations.fact.start"), value: (c) => c.createdAt },
  { id: "lastActivity", head: t("conversations.fact.last"), value: (c) => c.lastActivity },
  { id: "expiresAt", head: t("table.head.expires"), value: (c) => c.expiresAt },
  { id: "turns", head: t("conversations.history"), value: (c) => c.turns },
];
