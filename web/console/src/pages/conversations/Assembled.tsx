import { useState } from "react";
import { Tokens } from "../../selection/Tokens";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Copy } from "../../ui/Hash";
import only from "../../ui/Heard.module.css";
import { t } from "../../words";
import styles from "./Assembled.module.css";
import { type Asked, partsOf } from "./prompt";
import type { Memory, PromptMessage } from "./query";

const views = ["tokens", "text"] as const;
type View = (typeof views)[number];

type Props = { messages: readonly PromptMessage[]; asked: Asked; memory: Memory };

/** A prompt as a model would get it: its messages in order, what each costs, and where its tokens begin and end. */
export function Assembled({ messages, asked, memory }: Props) {
  const [view, setView] = useState<View>("tokens");
  const budget = asked.tokenBudget ?? null;
  const sum = messages.reduce((n, m) => n + m.tokens, 0);
  const parts = partsOf(
    messages.map((m) => m.role),
    typeof asked.rules === "string",
  );
  const turns = parts.filter((p) => p === "history").length;
  return (
    <section className={styles.prompt} aria-label={t("conversations.prompt.result")}>
      <Tokens tokens={sum} budget={budget} />
      <p role="status">
        {t("conversations.prompt.turns", { in: turns, of: memory.history.length })}{" "}
        {asked.context && t(parts.includes("context") ? "conversations.prompt.found" : "conversations.prompt.none")}
      </p>
      <Choice
        label={t("conversations.prompt.view")}
        value={view}
        options={views.map((value) => ({ value, word: t(`conversations.prompt.view.${value}`) }))}
        onChoose={setView}
      />
      <ol className={styles.messages} aria-label={t("conversations.prompt.messages")}>
        {messages.map((m, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a prompt does not change, and may hold a text twice
          <li key={i} data-part={parts[i]}>
            <p className={styles.head}>
              <b>{t(`conversations.part.${parts[i] ?? "input"}`)}</b> <code>{m.role}</code>
              <span className={styles.cost}>
                {t(budget === null ? "conversations.prompt.ofAll" : "conversations.prompt.ofBudget", {
                  n: m.tokens,
                  share: m.tokens / (budget ?? Math.max(1, sum)),
                })}
              </span>
            </p>
            <span className={styles.bar} aria-hidden="true">
              <span style={{ width: `${(100 * m.tokens) / (budget ?? Math.max(1, sum))}%` }} />
            </span>
            {view === "text" ? (
              <p className={styles.text} dir="auto">
                {m.content}
              </p>
            ) : (
              <Pieces message={m} />
            )}
            <Copy text={m.content} label={t("thread.copy.text")} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const shown = 2_000; // pieces in the document, until all are asked for

/** A text with its tokens beside each other. Who hears it is given the text, not hundreds of pieces of it. */
function Pieces({ message: { content, pieces } }: { message: PromptMessage }) {
  const [all, setAll] = useState(false);
  const drawn = all ? pieces : pieces.slice(0, shown);
  return (
    <>
      <p className={only.heard}>{content}</p>
      <p className={styles.text} dir="auto" aria-hidden="true" data-pieces>
        {drawn.map((piece, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a token is its place
          <span key={i} className={styles.piece} data-empty={piece === ""}>
            {piece}
          </span>
        ))}
      </p>
      {drawn.length < pieces.length && (
        <Button look="quiet" onClick={() => setAll(true)}>
          {t("conversations.prompt.all", { n: pieces.length - drawn.length })}
        </Button>
      )}
    </>
  );
}
