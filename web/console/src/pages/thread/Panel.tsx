import { type ReactNode, useEffect, useRef, useState } from "react";
import { useQuery } from "urql";
import { useLocation } from "wouter";
import { has, mayErase } from "../../api/rights";
import { useSession } from "../../api/session";
import { records } from "../../chain/erasure";
import { IconButton } from "../../ui/Button";
import { Erased } from "../../ui/Erased";
import { Copy, ShortHash } from "../../ui/Hash";
import { isEmptyJson } from "../../ui/Json";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Avatar, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Tree } from "../../ui/tree/Tree";
import { usePainted } from "../../ui/usePainted";
import { t } from "../../words";
import { Erase, EraseQuestion } from "./Erase";
import { EraseReceipt } from "./EraseReceipt";
import type { Receipt } from "./erasure";
import { Fields } from "./Fields";
import { Integrity } from "./Integrity";
import type { Judge } from "./link";
import styles from "./Panel.module.css";
import { Quarantine } from "./Quarantine";
import { MessageQuery, type MessageRow, type WholeMessage } from "./query";
import { Refs } from "./Refs";

type Props = {
  hash: string;
  /** What is known of the message at once, before all of it is there. */
  row: MessageRow | null;
  /** Its name in the address, for a link to it. */
  name: string;
  /** What a check of the conversation knows of the message; null if there is none. */
  judge: Judge | null;
  /** On a page of its own. */
  wide?: boolean;
  onClose: () => void;
  /** Called once the message is not what it was: erased, put into quarantine or released. */
  onChanged: () => void;
  /** Called before that, as soon as it is erased. by: the message that says so. */
  onErased: (hash: string, by: string) => void;
};

/** Everything of one message, beside the conversation or on a page of its own. */
export function Panel({ hash, row, name, judge, wide = false, onClose, onChanged, onErased }: Props) {
  const [{ data, error, fetching }, again] = useQuery({
    query: MessageQuery,
    variables: { hash },
  });
  const panel = useRef<HTMLElement>(null);
  // Here, as the offer to erase goes with the content: also while somebody is asked, where others erase it.
  const [asking, setAsking] = useState<{ hash: string; sequence: number } | null>(null);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another message begins at its top
  useEffect(() => {
    panel.current?.scrollTo(0, 0);
  }, [hash]);
  const painted = usePainted();
  const whole = data?.message?.hash === hash ? data.message : null;
  // Whoever erased it, the row may know that before: what was given of it until then is asked for again.
  const late = row?.hash === hash && row.content === null && whole !== null && whole.content !== null;
  useEffect(() => {
    if (late) again();
  }, [late, again]);
  const gone = late && fetching;
  const known = (gone ? null : whole) ?? (row?.hash === hash ? row : null);
  const changed = () => {
    panel.current?.focus(); // the button that had it is gone
    again();
    onChanged();
  };
  const ask = ({ hash, sequence }: WholeMessage) => setAsking({ hash, sequence });
  const asked = (of: string, by: Receipt | null) => {
    setAsking(null);
    if (!by) return;
    setReceipt(by);
    if (row?.hash !== of) again();
    onErased(of, by.hash); // what is gone is shown nowhere behind the receipt
  };
  return (
    <aside
      ref={panel}
      className={styles.panel}
      aria-label={t("thread.message")}
      data-panel
      data-wide={wide}
      tabIndex={-1}
    >
      <header className={styles.head}>
        <h2>{known ? t("thread.numbered", { n: String(known.sequence) }) : t("thread.message")}</h2>
        <ShortHash hash={hash} />
        <span className={styles.buttons}>
          {!wide && <IconButton icon="full" label={t("thread.full")} action="message.full" />}
          <IconButton icon="close" label={t("thread.close")} action="panel.close" onClick={onClose} />
        </span>
      </header>
      {painted && known && <Known message={known} name={name} />}
      {!painted ? null : whole ? (
        <Rest message={whole} gone={gone} judge={judge} onChanged={changed} onErase={() => ask(whole)} />
      ) : error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : fetching || data?.message ? (
        <Loading what={t(known ? "thread.theRest" : "thread.theMessage")} />
      ) : (
        <Screen icon="search" title={t("thread.noMessage")}>
          {t("thread.noMessage.detail")}
        </Screen>
      )}
      {asking && (
        <EraseQuestion hash={asking.hash} sequence={asking.sequence} onClose={(by) => asked(asking.hash, by)} />
      )}
      {receipt && (
        <EraseReceipt
          title={t("erase.done")}
          session={receipt.session.hash}
          record={receipt}
          onClose={() => {
            setReceipt(null);
            changed();
          }}
        />
      )}
    </aside>
  );
}

// What the row knows already.
function Known({ message: m, name }: { message: MessageRow | WholeMessage; name: string }) {
  const [path] = useLocation();
  const [, kind, hash] = path.split("/");
  const link = `${window.location.origin}/${kind}/${hash}?message=${name}`;
  return (
    <div className={styles.body}>
      <p className={styles.from}>
        <Avatar of={m.owner} />
        <span>
          <b>
            <PlayerName player={m.owner} />
          </b>
          <br />
          <Time at={m.createdAt} />
        </span>
      </p>
      {m.content === null ? (
        <Gone message={m} />
      ) : (
        <div className={styles.content} dir="auto">
          {m.content}
        </div>
      )}
      <p className={styles.copies}>
        <Copy text={link} label={t("thread.copy.link")} />
        <Copy text={m.hash} label={t("thread.copy.hash")} />
        {m.content !== null && <Copy text={m.content} label={t("thread.copy.text")} />}
      </p>
      <Section title={t("thread.fields")}>
        <Fields message={m} />
      </Section>
    </div>
  );
}

type RestProps = Pick<Props, "judge" | "onChanged"> & {
  message: WholeMessage;
  /** Its content was erased since. */
  gone: boolean;
  onErase: () => void;
};

function Rest({ message: m, gone, judge, onChanged, onErase }: RestProps) {
  const { identity } = useSession();
  const erasable = m.content !== null && m.eventType !== "ERASURE";
  return (
    <div className={styles.body}>
      {m.quarantined && <Quarantine message={m} onChanged={onChanged} />}
      <Integrity key={m.hash} message={m} judge={judge} />
      <Refs key={`refs ${m.hash}`} message={m} />
      {!gone && <Extra title={t("thread.attachments")} value={m.attachments} of={m.hash} />}
      {!gone && <Extra title={t("thread.ambient")} value={m.ambient} of={m.hash} />}
      {!m.quarantined && <Quarantine message={m} onChanged={onChanged} />}
      {erasable && mayErase(identity, m.owner.hash) && <Erase onAsk={onErase} />}
      {erasable && has(identity, "erase") && !mayErase(identity, m.owner.hash) && (
        <p className={styles.none}>{t("thread.erase.notYours")}</p>
      )}
    </div>
  );
}

// Who erased the content, when and why, as the message that records it says, if that holds.
function Gone({ message: m }: { message: MessageRow | WholeMessage }) {
  const given = "recorded" in m ? m.recorded.erasure : null;
  const by = given && "recorded" in m && records(given, m) ? given : null;
  // Of a row, what the server says must do until the rest is there.
  const said = "erasure" in m.integrity ? m.integrity.erasure?.hash : undefined;
  return (
    <div className={styles.gone}>
      <Erased by={by?.hash ?? said} known={by ? "erased" : said ? "claimed" : "unrecorded"} />
      {by && (
        <dl className={styles.fields}>
          <div>
            <dt>{t("thread.erased.by")}</dt>
            <dd>
              <PlayerName player={by.owner} />
            </dd>
          </div>
          <div>
            <dt>{t("thread.erased.on")}</dt>
            <dd>
              <Time at={by.createdAt} />
            </dd>
          </div>
          <div>
            <dt>{t("thread.erased.why")}</dt>
            <dd dir="auto">{by.content}</dd>
          </div>
        </dl>
      )}
      <p>{t("thread.erased.holds")}</p>
    </div>
  );
}

/** A part of the panel under its own title. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Extra({ title, value, of }: { title: string; value: unknown; of: string }) {
  if (isEmptyJson(value)) return null;
  return (
    <Section title={title}>
      <Tree key={of} value={value} label={title} />
    </Section>
  );
}
