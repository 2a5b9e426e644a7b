import { useRef } from "react";
import { useMutation, useQuery } from "urql";
import { useSearchParams } from "wouter";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import styles from "./ContextPage.module.css";
import { Form } from "./Form";
import { Models } from "./Models";
import { AskForContext, SelectionQuery } from "./query";
import { Result } from "./Result";
import { requestOf } from "./request";

/** Ask for ranked context, and see why it is what it is. The address holds the question and the kept selection. */
export default function ContextPage() {
  useTitle("Ask for context");
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const [asked, ask] = useMutation(AskForContext);
  const selection = params.get("selection");

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
      <PageHead title="Ask for context" note="What an agent would be given, and why" />
      <div className={styles.columns}>
        <Form params={params} busy={asked.fetching} onAsk={onAsk}>
          <Models />
        </Form>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
        <section ref={answer} className={styles.answer} aria-label="Result" tabIndex={0} aria-busy={asked.fetching}>
          {asked.error && !selection ? (
            <ErrorScreen error={asked.error} />
          ) : selection ? (
            <Kept key={selection} id={selection} />
          ) : asked.fetching ? (
            <Loading what="the ranking" />
          ) : (
            <Screen icon="context" title="Nothing asked yet">
              Ask something: the most relevant messages and records come back ranked, each with the parts of its score,
              what was left out and why, and the block to put into a prompt.
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
  if (fetching) return <Loading what="the selection" />;
  return (
    <Screen icon="search" title="This selection is not kept here">
      The address names a selection that this server does not have. Ask again to get a new one.
    </Screen>
  );
}
