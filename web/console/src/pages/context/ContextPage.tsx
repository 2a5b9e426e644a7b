import { useRef } from "react";
import { useMutation, useQuery } from "urql";
import { useSearchParams } from "wouter";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { t } from "../../words";
import styles from "./ContextPage.module.css";
import { Form } from "./Form";
import { Models } from "./Models";
import { AskForContext, SelectionQuery } from "./query";
import { Result } from "./Result";
import { requestOf } from "./request";

/** Ask for ranked context, and see why it is what it is. The address holds the question and the kept selection. */
export default function ContextPage() {
  useTitle(t("context.title"));
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const [asked, ask] = useMutation(AskForContext);
  const selection = params.get("selection");
  const named = t("context.result");

  const answer = useRef<HTMLElement>(null);
  const onAsk = async (draft: URLSearchParams) => {
    if (selection && draft.has("keep")) draft.set("keep", selection);
    // A link of somebody else's may name their player: preferences of others are for administrators.
    if (!isAdmin(identity) && draft.get("as") !== identity.player) draft.delete("as");
    const input = requestOf(draft);
    if (!input) return;
    draft.delete("selection");
    setParams(draft);
    const { data } = await ask({ input });
    if (!data) return;
    const kept = new URLSearchParams(draft);
    kept.set("selection", data.requestContext.id);
    setParams(kept, { replace: true });
    answer.current?.scrollIntoView({ block: "start" });
  };

  return (
    <>
      <PageHead title={t("context.title")} note={t("context.note")} />
      <div className={styles.columns}>
        <Form params={params} busy={asked.fetching} onAsk={onAsk}>
          <Models />
        </Form>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
        <section ref={answer} className={styles.answer} aria-label={named} tabIndex={0} aria-busy={asked.fetching}>
          {asked.error && !selection ? (
            <ErrorScreen error={asked.error} />
          ) : selection ? (
            <Kept key={selection} id={selection} />
          ) : asked.fetching ? (
            <Loading what={t("context.loading")} />
          ) : (
            <Screen icon="context" title={t("context.nothing")}>
              {t("context.nothing.help")}
            </Screen>
          )}
        </section>
      </div>
    </>
  );
}

function Kept({ id }: { id: string }) {
  const [{ data, error, fetching }, again] = useQuery({ query: SelectionQuery, variables: { id } });
  if (data?.contextSelection) return <Result selection={data.contextSelection} />;
  if (error) return <ErrorScreen error={error} retry={() => again({ requestPolicy: "network-only" })} />;
  if (fetching) return <Loading what={t("context.loading.selection")} />;
  return (
    <Screen icon="search" title={t("context.unknown")}>
      {t("context.unknown.help")}
    </Screen>
  );
}
