import { memo, type ReactNode } from "react";
import type { Finding } from "../chain/check";
import type { ServerBreak as Reported } from "../chain/server";
import type { Amount } from "../chain/verify";
import { say } from "../chain/words";
import { T, t, useLanguage } from "../words";
import styles from "./Breaks.module.css";
import { short } from "./format";
import { Icon } from "./icons";

/** One thing that is wrong with the log. pair: what was computed, and what was stated. */
export type Break = {
  session: string;
  sequence: number | null;
  hash: string | null;
  kind: string;
  detail: string;
  pair?: [computed: string, stated: string];
  /** What was altered, where that is proved; null: no value. */
  change?: { was: string | null; is: string | null };
  /** What it names is not there to be opened. */
  missing?: boolean;
};

const ofTheTree = "0".repeat(64); // stands for a session where the tree itself is meant

const mostListed = 100;

/** What a text with an amount in it takes. */
export const atLeast = ({ n, least }: Amount) => ({ n, least: least ? "yes" : "no" });

/**
 * The first of the breaks that were found, under the name of who found them, and how many more there are; action stands
 * beside each. Nothing if there are none.
 */
export function Breaks<Found>({
  who,
  breaks,
  found,
  as,
  action,
}: {
  who: string;
  breaks: readonly Found[];
  found: Amount;
  as: (found: Found) => Break;
  action?: (b: Break) => ReactNode;
}) {
  if (breaks.length === 0) return null;
  const listed = breaks.slice(0, mostListed);
  const more = found.n - listed.length;
  return (
    <div className={styles.group}>
      <h2>{who}</h2>
      <List listed={listed} as={as as (found: never) => Break} action={action} />
      {more > 0 && <p className={styles.more}>{t("chain.more", atLeast({ ...found, n: more }))}</p>}
    </div>
  );
}

type ListProps = {
  listed: readonly unknown[];
  as: (found: never) => Break;
  action: ((b: Break) => ReactNode) | undefined;
};

// A check goes on telling of itself long after the first of its breaks are known: these are not drawn anew each time.
const same = (a: ListProps, b: ListProps): boolean =>
  a.as === b.as && a.action === b.action && JSON.stringify(a.listed) === JSON.stringify(b.listed);

const List = memo(function List({ listed, as, action }: ListProps) {
  useLanguage();
  return (
    <ul className={styles.list}>
      {(listed as never[]).map(as).map((b, i) => (
        <li key={`${b.session} ${b.sequence} ${b.hash} ${b.kind} ${b.detail} ${b.pair}`}>
          <Icon name="broken" />
          <div>
            {i === 0 && listed.length > 1 && `${t("chain.first")} `}
            <b>{b.kind}</b>
            {b.sequence !== null && ` ${t("chain.at", { sequence: b.sequence })}`}{" "}
            {b.hash && <code title={b.hash}>{short(b.hash)}</code>}{" "}
            {b.session === ofTheTree ? (
              t("chain.tree")
            ) : (
              <T id="chain.session" values={{ session: <code title={b.session}>{short(b.session)}</code> }} />
            )}
            <br />
            {b.detail}
            {b.change && (
              <Pair
                names={[t("chain.altered.was"), t("chain.altered.is")]}
                values={[valueText(b.change.was), valueText(b.change.is)]}
              />
            )}
            {b.pair && <Pair names={[t("chain.computed"), t("chain.stated")]} values={b.pair} />}
          </div>
          {action?.(b)}
        </li>
      ))}
    </ul>
  );
}, same);

function Pair({ names, values }: { names: [string, string]; values: [string, string] }) {
  return (
    <dl className={styles.pair}>
      <dt>{names[0]}</dt>
      <dd dir="auto">{values[0]}</dd>
      <dt>{names[1]}</dt>
      <dd dir="auto">{values[1]}</dd>
    </dl>
  );
}

const longest = 400; // characters of a value

/** A field's value for a reader: nothing is a word, and a long one is cut. */
export const valueText = (value: string | null): string =>
  value === null ? t("chain.altered.none") : value.length > longest ? `${value.slice(0, longest)}…` : value;

type ServerBreak = Pick<Reported, "session" | "sequence" | "messageHash" | "reason" | "detail">;

/** A break as the server reports it: its reason in the reader's language, with the server's own words below. */
export function fromServer({ session, sequence, messageHash, reason, detail }: ServerBreak): Break {
  return {
    session,
    sequence,
    hash: messageHash,
    kind: t(`chain.reason.${reason}`),
    detail,
    missing: reason.startsWith("MISSING"),
  };
}

/** Tells findings of one message apart. */
export const keyOf = (f: Finding): string => `${f.kind} ${JSON.stringify(f.detail)} ${f.computed} ${f.stated}`;

/** A finding of this browser as a break. */
export function fromFinding({ session, sequence, hash, kind, detail, computed, stated, was, is }: Finding): Break {
  const pair = computed !== undefined && stated !== undefined ? { pair: [computed, stated] as [string, string] } : {};
  const change = was !== undefined && is !== undefined ? { change: { was, is } } : {};
  return { session, sequence, hash, kind: t(`chain.kind.${kind}`), detail: say(detail), ...pair, ...change };
}
