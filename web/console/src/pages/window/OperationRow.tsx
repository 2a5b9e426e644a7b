import { Link } from "wouter";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Icon, type IconName } from "../../ui/icons";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import type { PartProps } from "./Body";
import { Compressed } from "./Compressed";
import { Judged } from "./Judged";
import { type Outcome, outcomeOf, overrulingOf, textsOf } from "./judged";
import { Mitigated } from "./Mitigated";
import styles from "./Operation.module.css";
import { Overrule } from "./Overrule";
import { QualityOf } from "./QualityOf";
import type { Item, Operation } from "./query";
import { Text } from "./Text";

const icons: Record<Operation["kind"], IconName> = {
  WRITE: "edit",
  SHARE: "components",
  SELECT: "context",
  COMPRESS: "down",
  EXCEEDED: "broken",
  REMOVE: "close",
  OFFLOAD: "item",
  INJECT: "ref",
  READ: "witnessed",
  REGISTER_TOOLS: "tool",
  SEARCH_TOOLS: "search",
  OVERRULE: "verified",
  FORGET: "erased",
};

const marks: Record<Exclude<Outcome, "DONE">, { icon: IconName; tone: "good" | "warn" | "bad" }> = {
  OVERRULED: { icon: "verified", tone: "good" },
  REJECTED: { icon: "error", tone: "bad" },
  EXCEEDED: { icon: "broken", tone: "bad" },
  SUPERSEDED: { icon: "warning", tone: "warn" },
  COMPRESSED: { icon: "down", tone: "warn" },
};

type Props = PartProps & { operation: Operation; items: ReadonlyMap<string, Item> };

/** Something that was done to a window: what came of it, why, and what it changed. */
export function OperationRow({ operation: o, items, ...props }: Props) {
  const { identity } = useSession();
  const outcome = outcomeOf(o);
  const texts = textsOf(o, items);
  const overruling = isAdmin(identity) && has(identity, "memory:write") ? overrulingOf(o) : null;
  return (
    <article className={styles.operation} data-kind={o.kind} data-outcome={outcome}>
      <header className={styles.head}>
        <b className={styles.kind}>
          <Icon name={icons[o.kind]} size={14} />
          {t(`windows.kind.${o.kind}`)}
        </b>
        {outcome !== "DONE" && (
          <span className={styles.mark} data-tone={marks[outcome].tone}>
            <Icon name={marks[outcome].icon} size={12} />
            {t(`windows.outcome.${outcome}`)}
          </span>
        )}
        {o.type && <span>{t(`windows.type.${o.type}`)}</span>}
        <Time at={o.at} />
        {o.by && <PlayerName player={o.by} link />}
        <span>
          {o.tokensBefore === o.tokensAfter
            ? t("windows.tokens.same", { n: o.tokensAfter })
            : t("windows.tokens.change", { before: o.tokensBefore, after: o.tokensAfter })}
        </span>
        <span>{t("windows.ms", { n: o.tookMs })}</span>
      </header>
      {o.overruled !== null && (
        <p>
          <T id="windows.overruled.why" values={{ why: <q dir="auto">{o.overruled}</q> }} />
        </p>
      )}
      {o.rejected !== null && (
        <p className={styles.why}>
          <T id="windows.rejected.why" values={{ why: <q lang="en">{o.rejected}</q> }} />
        </p>
      )}
      {o.content !== null && <Text of={o.content} />}
      {(o.content === null || o.kind === "SELECT") && <Entered operation={o} texts={texts} />}
      {o.quality && <QualityOf quality={o.quality} />}
      <Mitigated of={o.mitigations} told={o.rejected} />
      <Judged of={o.judgements} texts={texts} />
      {o.superseded.length > 0 && <Superseded of={o.superseded} />}
      {o.compression && <Compressed of={o.compression} window={props.window} items={items} />}
      {o.selection && (
        <p>
          <Link href={`/selections/${encodeURIComponent(o.selection.id)}`}>
            {t("windows.selection", { query: o.selection.query })}
          </Link>
        </p>
      )}
      {overruling && <Overrule operation={o.id} of={overruling} onDone={props.onChanged} />}
    </article>
  );
}

const most = 3; // texts of an operation that are shown: the window has all of them

// What came in, as far as it is still there, and how much of it is not, or left for good.
function Entered({ operation: o, texts }: { operation: Operation; texts: readonly string[] }) {
  const rest = o.entered.length - Math.min(most, texts.length);
  return (
    <>
      {texts.slice(0, most).map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they do not change, and may be the same twice
        <Text key={i} of={text} />
      ))}
      {rest > 0 && (
        <p className={styles.note}>{t("windows.entered.rest", { n: rest, shown: texts.length > 0 ? "yes" : "no" })}</p>
      )}
      {o.left.length > 0 && <p className={styles.note}>{t("windows.left", { n: o.left.length })}</p>}
    </>
  );
}

function Superseded({ of }: { of: readonly Item[] }) {
  return (
    <div className={styles.part}>
      <h3>{t("windows.superseded")}</h3>
      {of.map((i) => (
        <div key={i.id} className={styles.old}>
          <p className={styles.head}>
            <b>{t(`windows.type.${i.type}`)}</b>
            {i.key && <code>{i.key}</code>}
            <span>{t("windows.tokens.n", { n: i.tokens })}</span>
          </p>
          <Text of={i.content} />
        </div>
      ))}
    </div>
  );
}
