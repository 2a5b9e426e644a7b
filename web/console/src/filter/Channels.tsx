import { type SubmitEvent, useRef, useState } from "react";
import { useQuery } from "urql";
import { graphql } from "../api/graphql";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { Menu } from "../ui/menu/Menu";
import { Why } from "../ui/Why";
import { T, t } from "../words";
import styles from "./Channels.module.css";

const ChannelsQuery = graphql(`
  query Channels {
    channels { name messages }
  }
`);

type Props = { chosen: readonly string[]; onChoose: (channels: string[]) => void };

/** Chooses channels: of those that the log's latest messages came in by, or any other by its name. */
export function Channels({ chosen, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState(false);
  const [{ data, error, fetching }, again] = useQuery({ query: ChannelsQuery, pause: !opened });
  const listed = data?.channels ?? [];
  const [once, setOnce] = useState<readonly string[]>([]); // what was chosen stays to be chosen again
  const others = [...new Set([...once, ...chosen])].filter((name) => !listed.some((c) => c.name === name));
  const toggle = (name: string) => {
    setOnce(others.includes(name) ? others : [...others, name]);
    onChoose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  };
  const one = (name: string, messages: number | null) => (
    <label key={name} className={styles.one}>
      <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
      <bdi>{name}</bdi>
      {messages !== null && <span className={styles.count}>{count(messages)}</span>}
    </label>
  );
  return (
    <Menu
      icon="threads"
      word={chosen.length > 0 ? t("filter.channels.chosen", { n: chosen.length }) : t("filter.channels")}
      box={box}
      onOpen={() => setOpened(true)}
    >
      <fieldset className={styles.channels}>
        <legend>{t("filter.channels")}</legend>
        {others.map((name) => one(name, null))}
        {listed.map((c) => one(c.name, c.messages))}
        {error ? (
          <div role="alert">
            <p className={styles.note}>
              <T id="filter.channels.failed" values={{ why: <Why error={error} /> }} />
            </p>
            <Button icon="retry" onClick={() => again()}>
              {t("ui.again")}
            </Button>
          </div>
        ) : (
          <p className={styles.note} role="status">
            {fetching && !data
              ? t("ui.loading", { what: t("filter.channels") })
              : t(listed.length === 0 ? "filter.channels.none" : "filter.channels.note")}
          </p>
        )}
      </fieldset>
      <Another onAdd={(name) => !chosen.includes(name) && toggle(name)} />
    </Menu>
  );
}

function Another({ onAdd }: { onAdd: (name: string) => void }) {
  const [typed, setTyped] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() === "") return;
    onAdd(typed.trim());
    setTyped("");
  };
  return (
    <form className={styles.another} onSubmit={submit}>
      <input
        aria-label={t("filter.channels.other")}
        placeholder={t("filter.channels.other")}
        autoComplete="off"
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
      />
      <Button type="submit" disabled={typed.trim() === ""}>
        {t("filter.channels.add")}
      </Button>
    </form>
  );
}
