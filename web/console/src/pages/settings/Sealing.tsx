import { useQuery } from "urql";
import { Link } from "wouter";
import { count } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { T, t } from "../../words";
import { type Seal, SealQuery } from "../seal/query";
import styles from "./SettingsPage.module.css";

/** The newest checkpoint and the witnesses, as the server tells; the seal's page has more, and checks it. */
export function Sealing() {
  const [{ data, error }, again] = useQuery({ query: SealQuery });
  const seal = data?.seal;
  return (
    <section className={styles.section} aria-labelledby="sealing">
      <h2 id="sealing">{t("settings.seal")}</h2>
      {seal ? (
        <>
          <p>
            {seal.checkpoint ? (
              <T
                id="settings.checkpoint"
                values={{
                  n: seal.checkpoint.size,
                  cosigned: seal.checkpoint.cosignatures,
                  when: <Time at={seal.checkpoint.signedAt} />,
                }}
              />
            ) : (
              t("settings.unsealed")
            )}
          </p>
          {seal.witnesses.length === 0 ? (
            <p className={styles.note}>{t("settings.unwitnessed")}</p>
          ) : (
            <>
              <div className={styles.head}>
                <h3>{t("settings.witnesses")}</h3>
                <Take
                  name={t("settings.witnesses")}
                  file="witnesses"
                  columns={witnessColumns()}
                  rows={seal.witnesses}
                  request={{ query: SealQuery, variables: {} }}
                />
              </div>
              <Table
                id="witnesses"
                name={t("settings.witnesses")}
                columns={witnessColumns()}
                rows={seal.witnesses}
                keyOf={(w) => w.name}
              />
            </>
          )}
          <p className={styles.note}>
            <T id="settings.seal.note" components={{ link: (inside) => <Link href="/seal">{inside}</Link> }} />
          </p>
        </>
      ) : error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : (
        <Loading what={t("settings.seal")} />
      )}
    </section>
  );
}

const witnessColumns = (): Shown<Seal["witnesses"][number]>[] => [
  { id: "name", head: t("settings.witness"), value: (w) => w.name },
  {
    id: "size",
    head: t("settings.cosigned"),
    value: (w) => w.size,
    cell: (w) => (w.size === null ? t("settings.never") : count(w.size)),
    numeric: true,
  },
  {
    id: "signedAt",
    head: t("settings.when"),
    value: (w) => w.signedAt,
    cell: (w) => (w.signedAt ? <Time at={w.signedAt} /> : t("settings.never")),
  },
  {
    id: "problem",
    head: t("settings.state"),
    value: (w) => w.problem,
    cell: (w) => (
      <span className={w.problem ? styles.bad : styles.good}>
        <Icon name={w.problem ? "warning" : "check"} size={14} />{" "}
        {w.problem ? <span lang="en">{w.problem}</span> : t("settings.wellSaid")}
      </span>
    ),
  },
];
