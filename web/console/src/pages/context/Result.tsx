import { Link } from "wouter";
import { Erased } from "../../ui/Erased";
import { nameOf, part } from "../../ui/format";
import { Copy, FullHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import { mark } from "./marks";
import type { Selected, Selection, Source } from "./query";
import { ReplayOf } from "./Replay";
import styles from "./Result.module.css";
import { Score } from "./Score";

/** A selection as it was kept: what was chosen and why, what was not, the block to use and the receipt. */
export function Result({ selection: s }: { selection: Selection }) {
  return (
    <div className={styles.result}>
      <Summary selection={s} />
      {s.items.length === 0 ? (
        <Screen icon="empty" title={t("context.irrelevant")}>
          {s.dropped.length > 0 ? t("context.irrelevant.some", { n: s.dropped.length }) : t("context.irrelevant.all")}
        </Screen>
      ) : (
        <ol className={styles.items}>
          {s.items.map((item) => (
            <Item key={item.position} item={item} />
          ))}
        </ol>
      )}
      <Dropped dropped={s.dropped} open={s.items.length === 0} />
      <Rendered selection={s} />
    </div>
  );
}

function Summary({ selection: s }: { selection: Selection }) {
  const before = `/context?selection=${encodeURIComponent(s.previous?.id ?? "")}`;
  return (
    <section className={styles.summary} aria-label={t("context.summary")}>
      <h2 dir="auto">{s.query}</h2>
      <p className={styles.facts}>
        <span>
          <T id="context.selected" values={{ n: s.items.length }} />
        </span>
        <span>
          <T id="context.left" values={{ n: s.dropped.length }} />
        </span>
        <span>
          <T id="context.log" values={{ n: s.logSize }} />
        </span>
        <span>
          {s.denseModel ? (
            <T id="context.ranked.both" values={{ model: s.embeddingModel, dense: s.denseModel }} />
          ) : (
            <T id="context.ranked" values={{ model: s.embeddingModel }} />
          )}
        </span>
        <Time at={s.createdAt} />
      </p>
      {s.tokenBudget === null ? (
        <p className={styles.facts}>
          <span>
            <T id="context.spent" values={{ n: s.tokens }} />
          </span>
        </p>
      ) : (
        <label className={styles.budget}>
          <span>
            <T id="context.spent.of" values={{ n: s.tokens, most: s.tokenBudget }} />
          </span>
          <meter min={0} max={s.tokenBudget} value={s.tokens} />
        </label>
      )}
      {s.previous && (
        <p className={styles.facts}>
          <span>
            <T
              id="context.unchanged"
              values={{ n: s.unchangedTokens }}
              components={{ link: (inside) => <Link href={before}>{inside}</Link> }}
            />
          </span>
        </p>
      )}
      {s.notices.length > 0 && (
        <ul className={styles.notices} aria-label={t("context.notices")}>
          {s.notices.map((notice) => (
            <li key={notice}>
              <Icon name="error" size={14} /> <span>{notice}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Item({ item }: { item: Selected }) {
  const terms = item.explanation.matchedTerms;
  return (
    <li className={styles.item}>
      <span className={styles.position}>{item.position}</span>
      <div className={styles.inside}>
        <SourceHead source={item.source}>
          <span className={styles.cost}>{t("context.cost", { n: item.tokens })}</span>
        </SourceHead>
        <p className={styles.text} dir="auto">
          <Text source={item.source} terms={terms} />
        </p>
        <Score item={item} />
        {terms.length > 0 && (
          <p className={styles.terms}>
            <T id="context.matched" values={{ terms: <bdi>{terms.join(", ")}</bdi> }} />
          </p>
        )}
      </div>
    </li>
  );
}

function SourceHead({ source, children }: { source: Source; children?: React.ReactNode }) {
  if (source.__typename === "Record") {
    return (
      <p className={styles.head}>
        <Icon name="records" size={14} />
        <Link href={`/records?record=${source.hash}`}>
          <T
            id="context.record"
            values={{
              kind: t(`context.record.${source.kind}`),
              book: <bdi>{source.book}</bdi>,
              title: <bdi>{source.title}</bdi>,
            }}
          />
        </Link>
        {children}
      </p>
    );
  }
  return (
    <p className={styles.head}>
      <Icon name="threads" size={14} />
      <Link href={`/messages/${source.hash}`}>
        <bdi>{nameOf(source.owner)}</bdi> #{source.sequence}
      </Link>
      <Time at={source.createdAt} />
      {source.quarantined && (
        <span className={styles.quarantined} title={t("context.quarantined.help")}>
          <Icon name="quarantine" size={12} />
          {t("context.quarantined")}
        </span>
      )}
      {children}
    </p>
  );
}

function Text({ source, terms }: { source: Source; terms: readonly string[] }) {
  if (source.__typename === "Record") return <Marked text={source.text} terms={terms} />;
  if (source.content === null) return <Erased by={source.integrity.erasure?.hash} />;
  return <Marked text={source.content} terms={terms} />;
}

function Marked({ text, terms }: { text: string; terms: readonly string[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
  return mark(text, terms).map((p, i) => (p.marked ? <mark key={i}>{p.text}</mark> : p.text));
}

function Dropped({ dropped, open }: { dropped: Selection["dropped"]; open: boolean }) {
  if (dropped.length === 0) return null;
  return (
    <details className={styles.more} open={open}>
      <summary>
        <h2>{t("context.dropped", { n: dropped.length })}</h2>
      </summary>
      <ol className={styles.dropped}>
        {dropped.map((d) => (
          <li key={d.source.hash}>
            <SourceHead source={d.source}>
              <span className={styles.reason}>{t(`context.reason.${d.reason}`)}</span>
            </SourceHead>
            <p className={styles.snippet} dir="auto">
              <Text source={d.source} terms={[]} />
            </p>
            <span className={styles.cost}>{t("context.dropped.cost", { score: part(d.score), n: d.tokens })}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Rendered({ selection: s }: { selection: Selection }) {
  return (
    <section className={styles.rendered}>
      <div className={styles.renderedHead}>
        <h2>{t("context.block")}</h2>
        {s.rendered && <Copy text={s.rendered} label={t("context.block.copy")} />}
      </div>
      {s.rendered ? <pre>{s.rendered}</pre> : <p className={styles.none}>{t("context.block.empty")}</p>}
      <h2>{t("context.receipt")}</h2>
      <p className={styles.none}>{t("context.receipt.help")}</p>
      <FullHash hash={s.receipt} what={t("context.receipt.word")} />
      <ReplayOf id={s.id} />
    </section>
  );
}
