import { Link } from "wouter";
import { useAction } from "../../actions/useAction";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Needs } from "../../app/Needs";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { nameOf, short } from "../../ui/format";
import { FullHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { isEmptyJson, Json } from "../../ui/Json";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Side } from "../../ui/Side";
import { Avatar, iconOf, kindName } from "../../ui/Things";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import styles from "./ComponentPage.module.css";
import { Describe } from "./Describe";
import { scopes, type Type } from "./kinds";
import { Latest } from "./Latest";
import type { Whole } from "./query";
import { Usage } from "./Usage";
import { useComponent } from "./useComponent";

/** One player, tag, flag, item or place: what it is, how it is used, and what was said with it last. */
export default function ComponentPage({ namespace, name }: { namespace: string; name: string }) {
  const { found, again } = useComponent(namespace, name);
  useTitle(found.kind === "described" ? nameOf(found.component) : t("components.one"));
  if (found.kind === "loading") return <Loading what={t("components.one.what")} />;
  if (found.kind === "failed") return <ErrorScreen error={found.error} retry={again} />;
  if (found.kind === "undescribed") return <Undescribed hash={found.hash} />;
  if (found.kind === "described") return <Described component={found.component} again={again} />;
  return (
    <Screen
      icon="search"
      title={t("components.unknown")}
      action={<Link href="/components">{t("components.every")}</Link>}
    >
      {t("components.unknown.help")}
    </Screen>
  );
}

function Described({ component: c, again }: { component: Whole; again: () => void }) {
  const { identity } = useSession();
  const [params, set] = useAddress();
  const changing = params.has("edit");
  const own = c.hash === identity.player;
  const mayChange = has(identity, "memory:write") && (isAdmin(identity) || own);
  const close = () => {
    set({ edit: null });
    document.querySelector<HTMLElement>("[data-edit]")?.focus();
  };
  useAction("component.edit", () => set({ edit: "" }), { enabled: mayChange && !changing });
  useAction("panel.close", close, { enabled: changing });
  const type = c.__typename as Type;
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead
          title={nameOf(c)}
          note={t("components.is", { kind: kindName(type), namespace: c.namespace ?? "", key: c.key ?? "" })}
        >
          <Link href={`/context?${scopes[type].address}=${c.hash}`}>{t("components.ask")}</Link>
          {mayChange && (
            <Button data-edit aria-expanded={changing} action="component.edit">
              {t("components.edit")}
            </Button>
          )}
        </PageHead>
        <div className={styles.body}>
          <Facts component={c} />
          <Usage hash={c.hash} type={type} />
          <Latest hash={c.hash} type={type} />
        </div>
      </div>
      {changing && (
        <Side title={t("components.edit.title")} close={t("components.close")} onClose={close} focus>
          <Needs title={t("components.edit.closed")} scope="memory:write" admin={!own}>
            <Describe
              key={c.hash}
              of={c}
              hash={null}
              onSaved={() => {
                close();
                again();
              }}
              onClose={close}
            />
          </Needs>
        </Side>
      )}
    </div>
  );
}

function Facts({ component: c }: { component: Whole }) {
  return (
    <section className={styles.facts} aria-label={t("components.facts")}>
      {c.__typename === "Player" ? (
        <Avatar of={c} />
      ) : (
        <span className={styles.icon}>
          <Icon name={iconOf(c.__typename)} />
        </span>
      )}
      <div className={styles.words}>
        <p className={c.description ? styles.text : styles.none} dir="auto">
          {c.description || t("components.description.none")}
        </p>
        {c.__typename === "Player" && c.preferences.length > 0 && (
          <ul className={styles.preferences} aria-label={t("components.preferences")}>
            {c.preferences.map((p) => (
              <li key={p} dir="auto">
                {p}
              </li>
            ))}
          </ul>
        )}
        {!isEmptyJson(c.data) && <Json value={c.data} label={t("components.data")} />}
        <FullHash hash={c.hash} />
      </div>
    </section>
  );
}

// A message may name a hash that no row describes: it has a use, and nothing else that is known.
function Undescribed({ hash }: { hash: string }) {
  const { identity } = useSession();
  return (
    <div className={styles.column}>
      <PageHead title={short(hash)} note={t("components.undescribed")}>
        {isAdmin(identity) && has(identity, "memory:write") && (
          <Link href={`/components?new=${hash}`}>{t("components.describe")}</Link>
        )}
      </PageHead>
      <div className={styles.body}>
        <p className={styles.none}>{t("components.undescribed.help")}</p>
        <FullHash hash={hash} />
        <Usage hash={hash} type={null} />
      </div>
    </div>
  );
}
