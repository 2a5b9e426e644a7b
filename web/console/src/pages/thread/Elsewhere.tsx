import { Link } from "wouter";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import type { Subject, Verification } from "../../chain/verify";
import { short } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { t } from "../../words";
import styles from "./Verify.module.css";

const shown = 5; // sessions of a thread

/** What else to check the chain by than this page's script: a file with proofs and a verifier of one's own, and the server. */
export function Elsewhere({ subject, found }: { subject: Subject; found: Verification }) {
  const { identity } = useSession();
  const sessions = subject.kind === "session" ? [subject.hash] : [...found.browser.sessions.keys()];
  const more = sessions.length - shown;
  return (
    <section className={styles.elsewhere} aria-label={t("thread.offers")}>
      <b>{t("thread.offers")}</b>
      {sessions.slice(0, shown).map((session) => (
        <a key={session} href={`/export?session=${session}`} download={fileOf(session)}>
          {t("thread.offer.export", { hash: short(session) })}
        </a>
      ))}
      {more > 0 && <span>{t("thread.offer.more", { n: more })}</span>}
      {sessions[0] && (
        <>
          <a href="/log.pub" download="log.pub">
            {t("thread.offer.key")}
          </a>
          <Copy
            text={`context-manager verify ${fileOf(sessions[0])} --key log.pub`}
            label={t("thread.offer.command")}
          />
        </>
      )}
      {isAdmin(identity) && <Link href="/seal#whole">{t("thread.offer.log")}</Link>}
    </section>
  );
}

// As the server names it, too.
const fileOf = (session: string): string => `session-${session.slice(0, 16)}.jsonl`;
