import { useRef } from "react";
import { useMutation } from "urql";
import { Link } from "wouter";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Kept } from "../../selection/Kept";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { useSearchParams } from "../../ui/useSearchParams";
import { t } from "../../words";
import styles from "./ContextPage.module.css";
import { Form, type How } from "./Form";
import { Models } from "./Models";
import { AskForContext } from "./query";
import { requestOf } from "./request";
import { Trial } from "./Trial";

// What the address says of what is shown, and not of what is asked.
const shown = ["selection", "try", "why", "replay", "rw"];

/**
 * The lab: ask for ranked context, for real or as a trial that is not kept, under one setting or two, and see why it is
 * what it is. The address holds the question, the settings and what is shown.
 */
export default function ContextPage() {
  useTitle(t("lab.title"));
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const [asked, ask] = useMutation(AskForContext);
  const busy = asked.fetching;
  const selection = params.get("selection");
  const tried = params.get("try") !== null && requestOf(params) !== null;

  const answer = useRef<HTMLElement>(null);
  const onAsk = async (draft: URLSearchParams, how: How) => {
    if (selection && draft.has("keep")) draft.set("keep", selection);
    // A link of somebody else's may name their player: preferences of others are for administrators.
    if (!isAdmin(identity) && draft.get("as") !== identity.player) draft.delete("as");
    const input = requestOf(draft);
    if (!input) return;
    for (const name of shown) draft.delete(name);
    if (how === "try") draft.set("try", "1");
    setParams(draft);
    if (how === "ask") {
      const { data } = await ask({ input });
      if (!data) return;
      const kept = new URLSearchParams(draft);
      kept.set("selection", data.requestContext.id);
      setParams(kept, { replace: true });
    }
    answer.current?.scrollIntoView({ block: "start" });
  };

  return (
    <>
      <PageHead title={t("lab.title")} note={t("lab.note")} />
      <div className={styles.columns}>
        <Form params={params} busy={busy} onAsk={onAsk}>
          <Models />
        </Form>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
        <section ref={answer} className={styles.answer} aria-label={t("lab.result")} tabIndex={0} aria-busy={busy}>
          {tried ? (
            <Trial params={params} />
          ) : asked.error && !selection ? (
            <ErrorScreen error={asked.error} />
          ) : selection ? (
            <Kept key={selection} id={selection} lead={<Stored id={selection} />} />
          ) : busy ? (
            <Loading what={t("lab.ranking")} />
          ) : (
            <Screen icon="context" title={t("lab.nothing")}>
              {t("lab.nothing.detail")}
            </Screen>
          )}
        </section>
      </div>
    </>
  );
}

const Stored = ({ id }: { id: string }) => (
  <p>
    <Link href={`/selections/${encodeURIComponent(id)}`}>{t("lab.stored")}</Link>
  </p>
);
