import type { ReactNode } from "react";
import { bytes, count } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import type { Shown } from "../../ui/table/Table";
import { Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { T, t } from "../../words";
import { type DatabaseRole, type Server, ServerQuery } from "./query";
import styles from "./SettingsPage.module.css";

/** What runs, on what, and whether it stands as it should. */
export function Health({ server: s }: { server: Server }) {
  const disk = s.dataDirectory;
  return (
    <section className={styles.section} aria-labelledby="health">
      <h2 id="health">{t("settings.health")}</h2>
      <dl className={styles.facts}>
        <Fact name={t("settings.version")}>
          <T id="settings.version.of" values={{ version: <code>{s.version}</code>, go: <code>{s.goVersion}</code> }} />
        </Fact>
        <Fact name={t("settings.started")}>
          <Time at={s.startedAt} />
        </Fact>
        <Fact name={t("settings.database")}>
          <T
            id={s.privateDatabase ? "settings.private" : "settings.given"}
            values={{ postgres: <code>{s.databaseVersion}</code>, pgvector: <code>{s.pgvectorVersion}</code> }}
          />
        </Fact>
        <Fact name={t("settings.migration")}>{s.migration}</Fact>
        <Fact name={t("settings.size")}>
          <span title={count(s.databaseBytes)}>{bytes(s.databaseBytes)}</span>
        </Fact>
        <Fact name={t("settings.fence")}>
          <State good={s.rowLevelSecurity} words={t(s.rowLevelSecurity ? "settings.fence.on" : "settings.fence.off")} />
        </Fact>
        <Fact name={t("settings.disk")}>
          {disk ? (
            <State
              good={!disk.low}
              words={t(disk.low ? "settings.disk.low" : "settings.disk.free", {
                free: bytes(disk.freeBytes),
                total: bytes(disk.totalBytes),
              })}
            />
          ) : (
            t("settings.untold")
          )}
        </Fact>
      </dl>
      <div className={styles.head}>
        <h3>{t("settings.roles")}</h3>
        <Take
          name={t("settings.roles")}
          file="roles"
          columns={roleColumns()}
          rows={s.roles}
          request={{ query: ServerQuery, variables: {} }}
        />
      </div>
      <Table
        id="roles"
        name={t("settings.roles")}
        columns={roleColumns()}
        rows={s.roles}
        keyOf={(r) => `${r.name} ${r.purpose}`}
      />
    </section>
  );
}

function roleColumns(): Shown<DatabaseRole>[] {
  const told = (is: boolean) => t(is ? "settings.yes" : "settings.no");
  return [
    { id: "name", head: t("settings.role"), value: (r) => r.name, cell: (r) => <code>{r.name}</code> },
    { id: "purpose", head: t("settings.purpose"), value: (r) => t(`settings.purpose.${r.purpose}`) },
    { id: "superuser", head: t("settings.superuser"), value: (r) => r.superuser, cell: (r) => told(r.superuser) },
    {
      id: "bypassesRowSecurity",
      head: t("settings.bypasses"),
      value: (r) => r.bypassesRowSecurity,
      cell: (r) => told(r.bypassesRowSecurity),
    },
  ];
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function State({ good, words }: { good: boolean; words: string }) {
  return (
    <span className={good ? styles.good : styles.bad}>
      <Icon name={good ? "check" : "warning"} size={14} /> {words}
    </span>
  );
}
