import { bytes, count } from "../../ui/format";
import type { Shown } from "../../ui/table/Table";
import { Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { limitNamed } from "./limits";
import { type Limit, ServerQuery } from "./query";
import styles from "./SettingsPage.module.css";

// A value with its unit, as people read it; what is taken away has the plain number and the unit apart.
function amount({ value, unit }: Limit): string {
  if (unit === "BYTES") return bytes(value);
  if (unit === "COUNT") return count(value);
  return t(`settings.unit.${unit}`, { n: value });
}

function wordsOf({ name, description }: Limit): string {
  const known = limitNamed(name);
  return known ? t(`settings.limit.of.${known}`) : description;
}

function columns(): Shown<Limit>[] {
  return [
    { id: "name", head: t("settings.limit"), value: (l) => l.name },
    { id: "value", head: t("settings.value"), value: (l) => l.value, cell: amount, numeric: true },
    { id: "unit", head: t("settings.unit"), value: (l) => t(`settings.unit.name.${l.unit}`) },
    {
      id: "setting",
      head: t("settings.setting"),
      value: (l) => l.setting,
      cell: (l) => (l.setting ? <code>{l.setting}</code> : t("settings.fixed")),
    },
    { id: "description", head: t("settings.description"), value: wordsOf },
  ];
}

/** Limits or times in force, and which setting changes each. */
export function Limits({ name, file, limits }: { name: string; file: string; limits: readonly Limit[] }) {
  return (
    <div className={styles.section}>
      <div className={styles.head}>
        <h2>{name}</h2>
        <Take
          name={name}
          file={file}
          columns={columns()}
          rows={limits}
          request={{ query: ServerQuery, variables: {} }}
        />
      </div>
      <Table id={file} name={name} columns={columns()} rows={limits} keyOf={(l) => l.name} />
    </div>
  );
}
