import { useCallback, useRef, useState } from "react";
import { useClient } from "urql";
import { Link, useSearchParams } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Picker } from "../../ui/Picker";
import { Screen } from "../../ui/Screen";
import { NewToken } from "./NewToken";
import { type TokenRow, TokensQuery } from "./query";
import { Revoke } from "./Revoke";
import { Row } from "./Row";
import styles from "./TokensPage.module.css";

/** Tokens that were made, with whom they stand for and until when; makes and revokes them. */
export default function TokensPage() {
  useTitle("Tokens");
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
  // A secret that is shown only once does not go by a key that was pressed for something else.
  const closeUnlessSecret = () => !document.querySelector("[data-secret]") && close();
  useAction("panel.close", closeUnlessSecret, { enabled: making });
  const note =
    pages.totalCount === null ? "" : `${count(pages.totalCount)}${isAdmin(identity) ? "" : " of yours"}, latest first`;
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead title="Tokens" note={note}>
          <Button ref={opener} icon="plus" look="primary" aria-expanded={making} action="token.new">
            New token
          </Button>
        </PageHead>
        <div className={styles.bar}>
          {isAdmin(identity) ? (
            <>
              <div className={styles.filter}>
                <Picker
                  label="Only those of"
                  namespaces={["PLY", "PLU", "PLX"]}
                  hint="Any player: a name or a hash"
                  most={1}
                  chosen={player ? [player] : []}
                  onChoose={([hash]) => set("player", hash ?? null)}
                />
              </div>
              <p className={styles.note}>
                The token in the server’s <code>admin.token</code> and those of an OpenID provider are not listed. What
                you make and revoke is <Link href={`/sessions/${auditSession(identity.player)}`}>on record</Link>.
              </p>
            </>
          ) : (
            <p className={styles.note}>
              Those of your own player. Tokens of others, and administrators’, are for administrators.
            </p>
          )}
        </div>
        <List
          key={player ?? ""}
          pages={pages}
          what="tokens"
          keyOf={(t) => t.id}
          estimate={96}
          row={(t) => <Row token={t} own={t.id === identity.token} onRevoke={() => setRevoked(t)} />}
          empty={
            <Screen icon="key" title={player ? "None of this player’s" : "No tokens yet"}>
              {player ? "Nobody made a token that stands for them." : "Make one for each program and person."}
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
