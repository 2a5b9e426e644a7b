import { Link } from "wouter";
import { Choice } from "../../ui/Choice";
import { count, nameOf, short } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import { MessageText } from "./MessageText";
import { type Ref, ReferencesQuery, type Referring } from "./query";
import styles from "./References.module.css";

const types = ["CONTEXT", "ACCOUNTANT", "SECRETARY"] as const;

/** What a message was sent with, in order; on demand of one type. */
export function SentWith({ message: { hash, refs } }: { message: Referring }) {
  const [params, set] = useAddress();
  const type = types.find((one) => one === params.get("type")) ?? "all";
  const rows = type === "all" ? refs : refs.filter((r) => r.type === type);
  const columns = columnsOf();
  const options = (["all", ...types] as const).map((value) => ({
    value,
    word: t(`references.type.${value}`, {
      n: value === "all" ? refs.length : refs.filter((r) => r.type === value).length,
    }),
  }));
  return (
    <div className={styles.part}>
      <header className={styles.head}>
        <h2>{t("references.sentWith", { n: refs.length })}</h2>
        {refs.length > 0 && (
          <>
            <Choice
              label={t("references.type")}
              value={type}
              options={options}
              onChoose={(v) => set({ type: v === "all" ? null : v }, { replace: true })}
            />
            <Take
              name={t("references.sentWith", { n: refs.length })}
              file={`sent-with-${short(hash)}`}
              columns={columns}
              rows={rows}
              request={{ query: ReferencesQuery, variables: { hash } }}
            />
          </>
        )}
      </header>
      {refs.length === 0 ? (
        <p className={styles.none}>{t("references.sentWith.none")}</p>
      ) : rows.length === 0 ? (
        <Screen icon="search" title={t("references.filtered")}>
          {t("references.filtered.detail", { n: refs.length })}
        </Screen>
      ) : (
        <Table
          id="sentWith"
          name={t("references.sentWith", { n: rows.length })}
          columns={columns}
          rows={rows}
          keyOf={(r) => String(r.position)}
        />
      )}
    </div>
  );
}

const textOf = ({ target, hash }: Ref): string =>
  target?.__typename === "Message" ? (target.content ?? "") : target?.__typename === "Record" ? target.title : hash;

function whoOf({ target }: Ref): string | null {
  if (target?.__typename === "Message") return nameOf(target.owner);
  return target?.__typename === "Record" ? target.book : null;
}

const columnsOf = (): Shown<Ref>[] => [
  {
    id: "position",
    head: t("references.head.position"),
    numeric: true,
    value: (r) => r.position,
    cell: (r) => count(r.position),
  },
  { id: "type", head: t("references.head.type"), value: (r) => r.type, cell: (r) => <TypeName refTo={r} /> },
  {
    id: "from",
    head: t("references.head.from"),
    value: whoOf,
    cell: (r) => <bdi>{whoOf(r) ?? t("references.absent")}</bdi>,
  },
  { id: "text", head: t("references.head.text"), value: textOf, cell: (r) => <Target refTo={r} /> },
  {
    id: "at",
    head: t("references.head.at"),
    value: (r) => r.target?.createdAt ?? null,
    cell: (r) => (r.target ? <Time at={r.target.createdAt} /> : null),
  },
  {
    id: "hash",
    head: t("references.head.hash"),
    value: (r) => r.hash,
    cell: (r) => <code title={r.hash}>{short(r.hash)}</code>,
  },
];

function TypeName({ refTo: { type } }: { refTo: Ref }) {
  return (
    <span className={styles.kind}>
      <Icon name={type === "CONTEXT" ? "threads" : type === "ACCOUNTANT" ? "records" : "key"} size={14} />
      {t(`references.kind.${type === "CONTEXT" ? "message" : type}`)}
    </span>
  );
}

function Target({ refTo: { target, hash } }: { refTo: Ref }) {
  if (target?.__typename === "Message") return <MessageText message={target} />;
  if (target?.__typename === "Record") {
    return (
      <Link href={`/records/${hash}`}>
        <bdi>{target.title}</bdi>
      </Link>
    );
  }
  return <span className={styles.none}>{t("references.absent")}</span>;
}
