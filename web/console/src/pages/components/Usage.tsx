import { useQuery } from "urql";
import { Link } from "wouter";
import { Choice } from "../../ui/Choice";
import { count, dateTime, short, utcDate } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import type { PartName } from "../threads/filter";
import { type Bar, barsOf } from "./buckets";
import { Chart } from "./Chart";
import { scopes, type Type } from "./kinds";
import { type Bucket, UsageQuery, type Use } from "./query";
import styles from "./Usage.module.css";

const buckets = ["DAY", "WEEK", "MONTH"] as const;
const shapes = ["chart", "table"] as const;

/** How messages name a component, in all and over time. type: null if no row says what it is. */
export function Usage({ hash, type }: { hash: string; type: Type | null }) {
  const [params, set] = useAddress();
  const bucket: Bucket = buckets.find((b) => b.toLowerCase() === params.get("by")) ?? "DAY";
  const shape = params.get("use") === "table" ? "table" : "chart";
  const variables = { hash, bucket };
  const [{ data, error, fetching }, again] = useQuery({ query: UsageQuery, variables });
  const use = fetching && !data ? undefined : data?.componentUsage;
  const columns = columnsOf(type === "Player");
  return (
    <div className={styles.part}>
      <header className={styles.head}>
        <h2>{t("components.use")}</h2>
        {use && use.total > 0 && (
          <>
            <Choice
              label={t("components.by")}
              value={bucket}
              options={buckets.map((value) => ({ value, word: t(`components.by.${value}`) }))}
              onChoose={(b) => set({ by: b === "DAY" ? null : b.toLowerCase() }, { replace: true })}
            />
            <Choice
              label={t("components.shape")}
              value={shape}
              options={shapes.map((value) => ({ value, word: t(`components.shape.${value}`) }))}
              onChoose={(s) => set({ use: s === "chart" ? null : s }, { replace: true })}
            />
            <Take
              name={t("components.use")}
              file={`use-${short(hash)}`}
              columns={columns}
              rows={use.buckets}
              request={{ query: UsageQuery, variables }}
            />
          </>
        )}
      </header>
      {error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : !use ? (
        <Loading what={t("components.use.what")} />
      ) : use.total === 0 ? (
        <p className={styles.none}>{t("components.use.none")}</p>
      ) : (
        <>
          <Totals of={use} hash={hash} type={type} />
          <OverTime of={use} bucket={bucket} shape={shape} columns={columns} />
        </>
      )}
    </div>
  );
}

// What a player may have had to do with a message, with its name in the address of the threads.
const playerParts = [
  { part: "sent", name: "sender" },
  { part: "received", name: "receiver" },
  { part: "led", name: "leader" },
] as const satisfies { part: keyof Use; name: PartName }[];

function Totals({ of, hash, type }: { of: Use; hash: string; type: Type | null }) {
  const threads = (name: string) => `/threads?${name}=${hash}`;
  const facts: [string, number, string | null][] = [
    [t("components.total"), of.total, type && threads(scopes[type].address)],
  ];
  if (type === "Player") {
    for (const { part, name } of playerParts) facts.push([t(`components.${part}`), of[part], threads(name)]);
  }
  return (
    <dl className={styles.totals}>
      {facts.map(([name, n, to]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {count(n)}{" "}
            {to && n > 0 && (
              <Link href={to} aria-label={t("components.threads.of", { what: name })}>
                {t("components.threads")}
              </Link>
            )}
          </dd>
        </div>
      ))}
      {of.first && of.last && (
        <>
          <div>
            <dt>{t("components.first")}</dt>
            <dd>
              <Time at={of.first} />
            </dd>
          </div>
          <div>
            <dt>{t("components.last")}</dt>
            <dd>
              <Time at={of.last} />
            </dd>
          </div>
        </>
      )}
    </dl>
  );
}

type OverTimeProps = { of: Use; bucket: Bucket; shape: "chart" | "table"; columns: Shown<Bar>[] };

function OverTime({ of, bucket, shape, columns }: OverTimeProps) {
  if (shape === "table") {
    return (
      <Table
        id="use"
        name={t("components.use")}
        columns={columns}
        rows={of.buckets.toReversed()}
        keyOf={(b) => b.start}
        partial={of.buckets.length >= 1000}
      />
    );
  }
  const { bars, capped } = barsOf(of.buckets, bucket);
  const label = t("components.chart", {
    n: of.total,
    first: of.first ? dateTime(of.first) : "",
    last: of.last ? dateTime(of.last) : "",
  });
  return (
    <>
      <Chart bars={bars} label={label} />
      {capped && <p className={styles.none}>{t("components.capped", { n: bars.length })}</p>}
    </>
  );
}

const columnsOf = (player: boolean): Shown<Bar>[] => [
  { id: "start", head: t("components.from"), value: (b) => b.start, cell: (b) => utcDate(b.start) },
  { id: "total", head: t("components.total"), numeric: true, value: (b) => b.total, cell: (b) => count(b.total) },
  ...(player
    ? (["sent", "received", "led"] as const).map(
        (id): Shown<Bar> => ({
          id,
          head: t(`components.${id}`),
          numeric: true,
          value: (b) => b[id],
          cell: (b) => count(b[id]),
        }),
      )
    : []),
];
