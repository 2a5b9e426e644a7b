import { nameOf } from "../../ui/format";
import type { Column } from "../../ui/table/cells";
import { t } from "../../words";
import type { TokenRow } from "./query";

/** What is taken away of tokens: never a secret, which the server does not know either. */
export const tokenColumns = (): Column<TokenRow>[] => [
  { id: "id", head: t("table.head.id"), value: (r) => r.id },
  { id: "kind", head: t("table.head.kind"), value: (r) => r.kind },
  { id: "player", head: t("table.head.player"), value: (r) => nameOf(r.player) },
  { id: "playerHash", head: t("table.head.playerHash"), value: (r) => r.player.hash },
  { id: "scopes", head: t("table.head.scopes"), value: (r) => r.scopes.join(" ") },
  { id: "note", head: t("table.head.note"), value: (r) => r.note },
  { id: "state", head: t("table.head.state"), value: (r) => r.state },
  { id: "creator", head: t("table.head.creator"), value: (r) => nameOf(r.creator) },
  { id: "createdAt", head: t("table.head.created"), value: (r) => r.createdAt },
  { id: "expiresAt", head: t("table.head.expires"), value: (r) => r.expiresAt },
  { id: "revokedAt", head: t("table.head.revoked"), value: (r) => r.revokedAt },
  { id: "lastUsedAt", head: t("table.head.used"), value: (r) => r.lastUsedAt },
];
