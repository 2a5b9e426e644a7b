import { useQuery } from "urql";
import { Link } from "wouter";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { T, t } from "../../words";
import { Models } from "../context/Models";
import { Health } from "./Health";
import { Limits } from "./Limits";
import { Preferences } from "./Preferences";
import { ServerQuery } from "./query";
import { Sealing } from "./Sealing";
import styles from "./SettingsPage.module.css";

/** How this browser shows the console; and for administrators, how the server runs and what it allows. */
export default function SettingsPage() {
  useTitle(t("settings.title"));
  const { identity } = useSession();
  return (
    <>
      <PageHead title={t("settings.title")} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.page} tabIndex={0} aria-label={t("settings.title")}>
        <Preferences />
        {has(identity, "tokens:manage") && (
          <section className={styles.section} aria-labelledby="tokens">
            <h2 id="tokens">{t("settings.tokens")}</h2>
            <p>
              <T id="settings.tokens.note" components={{ link: (inside) => <Link href="/tokens">{inside}</Link> }} />
            </p>
          </section>
        )}
        {isAdmin(identity) ? (
          <Server />
        ) : (
          <p className={styles.closed}>
            <Icon name="key" /> {t("settings.closed")}
          </p>
        )}
        {has(identity, "verify") && <Sealing />}
        <Models />
      </section>
    </>
  );
}

function Server() {
  const [{ data, error }, again] = useQuery({ query: ServerQuery });
  if (data) {
    return (
      <>
        <Health server={data.server} />
        <Limits name={t("settings.limits")} file="limits" limits={data.server.limits} />
        <Limits name={t("settings.retention")} file="retention" limits={data.server.retention} />
      </>
    );
  }
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  return <Loading what={t("settings.what")} />;
}
