import { Link } from "wouter";
import { Erased } from "../../ui/Erased";
import { count, nameOf, part, plural } from "../../ui/format";
import { Copy, FullHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
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
        <Screen icon="empty" title="Nothing was relevant enough">
          {s.dropped.length > 0
            ? `${plural(s.dropped.length, "candidate")} ranked and left out: see below why. A lower threshold lets more in.`
            : "Nothing in this scope has anything in common with the question."}
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
  return (
    <section className={styles.summary} aria-label="Summary">
      <h2 dir="auto">{s.query}</h2>
      <p className={styles.facts}>
        <span>
          <b>{count(s.items.length)}</b> selected
        </span>
        <span>
          <b>{count(s.dropped.length)}</b> left out
        </span>
        <span>
          from a log of <b>{count(s.logSize)}</b> messages
        </span>
        <span>
          ranked by <b>{s.embeddingModel}</b>
          {s.denseModel && (
            <>
              {" "}
              and <b>{s.denseModel}</b>
            </>
          )}
        </span>
        <Time at={s.createdAt} />
      </p>
      {s.tokenBudget === null ? (
        <p className={styles.facts}>
          <span>
            <b>{plural(s.tokens, "token")}</b>, no budget given
          </span>
        </p>
      ) : (
        <label className={styles.budget}>
          <span>
            <b>{count(s.tokens)}</b> of {count(s.tokenBudget)} tokens
          </span>
          <meter min={0} max={s.tokenBudget} value={s.tokens} />
        </label>
      )}
      {s.previous && (
        <p className={styles.facts}>
          <span>
            <b>{plural(s.unchangedTokens, "token")}</b> unchanged from{" "}
            <Link href={`/context?selection=${encodeURIComponent(s.previous.id)}`}>the selection before</Link>
          </span>
        </p>
      )}
      {s.notices.length > 0 && (
        <ul className={styles.notices} aria-label="Notices">
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
          <span className={styles.cost}>{plural(item.tokens, "token")}</span>
        </SourceHead>
        <p className={styles.text} dir="auto">
          <Text source={item.source} terms={terms} />
        </p>
        <Score item={item} />
        {terms.length > 0 && (
          <p className={styles.terms}>
            matched: <bdi>{terms.join(", ")}</bdi>
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
          {source.kind === "ACCOUNTANT" ? "Ledger" : "Secretary"}: <bdi>{source.book}</bdi>, <bdi>{source.title}</bdi>
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
        <span className={styles.quarantined} title="It was selected before, and is in no new selection.">
          <Icon name="quarantine" size={12} />
          in quarantine now
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

const reasons: Record<Selection["dropped"][number]["reason"], string> = {
  BELOW_THRESHOLD: "Below the threshold",
  OVER_BUDGET: "Over the token budget",
  OVER_LIMIT: "Enough better ones",
  DUPLICATE: "Same text as a newer one",
  SUPERSEDED: "A newer one says it again",
};

function Dropped({ dropped, open }: { dropped: Selection["dropped"]; open: boolean }) {
  if (dropped.length === 0) return null;
  return (
    <details className={styles.more} open={open}>
      <summary>
        <h2>Left out ({count(dropped.length)})</h2>
      </summary>
      <ol className={styles.dropped}>
        {dropped.map((d) => (
          <li key={d.source.hash}>
            <SourceHead source={d.source}>
              <span className={styles.reason}>{reasons[d.reason]}</span>
            </SourceHead>
            <p className={styles.snippet} dir="auto">
              <Text source={d.source} terms={[]} />
            </p>
            <span className={styles.cost}>
              score {part(d.score)}, {plural(d.tokens, "token")}
            </span>
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
        <h2>The block for a prompt</h2>
        {s.rendered && <Copy text={s.rendered} label="Copy the block" />}
      </div>
      {s.rendered ? <pre>{s.rendered}</pre> : <p className={styles.none}>Empty: nothing was selected.</p>}
      <h2>Receipt</h2>
      <p className={styles.none}>
        The server’s commitment to the request, the policy, the log position and this result. This console does not
        recompute it.
      </p>
      <FullHash hash={s.receipt} what="receipt" />
      <ReplayOf id={s.id} />
    </section>
  );
}
