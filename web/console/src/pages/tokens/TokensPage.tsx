import { useCallback, useRef, useState } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { press } from "../../actions/press";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Picker } from "../../ui/Picker";
import { Screen } from "../../ui/Screen";
import { Take } from "../../ui/take/Take";
import { useSearchParams } from "../../ui/useSearchParams";
import { T, t } from "../../words";
import { tokenColumns } from "./columns";
import { NewToken } from "./NewToken";
import { type TokenRow, TokensQuery } from "./query";
import { Revoke } from "./Revoke";
import { Row } from "./Row";
import styles from "./TokensPage.module.css";

/** Tokens that were made, with whom they stand for and until when; makes and revokes them. */
export default function TokensPage() {
  useTitle(t("tokens.title"));
  const client = useClient();
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const [revoked, setRevoked] = useState<TokenRow | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const player = params.get("player");
  const making = params.has("new");
  const pages = usePages(
    useCallback(
      async (after: string | null) =>
        pageOf((await ask(client, TokensQuery, { player, after, count: after === null })).tokens),
      [client, player],
    ),
  );
  const set = (name: string, value: string | null) =>
    setParams((p) => {
      const next = new URLSearchParams(p);
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  const close = () => {
    set("new", null);
    opener.current?.focus();
  };
  useAction("token.new", () => set("new", ""), { enabled: !making });
  const revocable = pages.items.some((token) => token.state === "ACTIVE");
  useAction("token.revoke", () => press("revoke"), { enabled: revocable });
  // A secret that is shown only once does not go by a key that was pressed for something else.
  const closeUnlessSecret = () => !document.querySelector("[data-secret]") && close();
  useAction("panel.close", closeUnlessSecret, { enabled: making });
  const note =
    pages.totalCount === null ? "" : t(isAdmin(identity) ? "tokens.note" : "tokens.note.own", { n: pages.totalCount });
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead title={t("tokens.title")} note={note}>
          <Take
            name={t("tokens.title")}
            file="tokens"
            columns={tokenColumns()}
            rows={pages.fetchPage}
            request={{ query: TokensQuery, variables: { player, after: null, count: true } }}
          />
          <Button ref={opener} icon="plus" look="primary" aria-expanded={making} action="token.new">
            {t("tokens.new")}
          </Button>
        </PageHead>
        <div className={styles.bar}>
          {isAdmin(identity) ? (
            <>
              <div className={styles.filter}>
                <Picker
                  label={t("tokens.of")}
                  namespaces={["PLY", "PLU", "PLX"]}
                  hint={t("tokens.of.hint")}
                  most={1}
                  chosen={player ? [player] : []}
                  onChoose={([hash]) => set("player", hash ?? null)}
                />
              </div>
              <p className={styles.note}>
                <T
                  id="tokens.unlisted"
                  components={{
                    record: (inside) => <Link href={`/sessions/${auditSession(identity.player)}`}>{inside}</Link>,
                  }}
                />
              </p>
            </>
          ) : (
            <p className={styles.note}>{t("tokens.own")}</p>
          )}
        </div>
        <List
          key={player ?? ""}
          pages={pages}
          what="tokens"
          keyOf={(token) => token.id}
          estimate={96}
          row={(token) => <Row token={token} own={token.id === identity.token} onRevoke={() => setRevoked(token)} />}
          empty={
            <Screen icon="key" title={player ? t("tokens.none.of") : t("tokens.none")}>
              {player ? t("tokens.none.of.help") : t("tokens.none.help")}
            </Screen>
          }
        />
      </div>
      {making && <NewToken onMade={pages.reload} onClose={close} />}
      {revoked && (
        <Revoke
          token={revoked}
          own={revoked.id === identity.token}
          onRevoked={pages.reload}
          onClose={() => setRevoked(null)}
        />
      )}
    </div>
  );
}
