import { type KeyboardEvent, useState } from "react";
import { useClient, useMutation } from "urql";
import { fieldError } from "../../api/errors";
import { ask } from "../../api/query";
import { Button } from "../../ui/Button";
import { nameOf, short } from "../../ui/format";
import type { Thing } from "../../ui/Things";
import { T, t } from "../../words";
import { Field, Wrong } from "./Form";
import styles from "./NewToken.module.css";
import { DescribePlayer, type PlayerInput, PlayersLike } from "./query";

type Place = PlayerInput["namespace"];

const places = ["PLY", "PLU", "PLX"] as const satisfies Place[];

type Props = {
  /** The hash that is to be described; null: the one that follows from the key. */
  hash: string | null;
  onDescribed: (hash: string) => void;
  onClose: () => void;
};

/** Describes a player who is not there yet. One who is there is offered and never changed. */
export function NewPlayer({ hash, onDescribed, onClose }: Props) {
  const client = useClient();
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [namespace, setNamespace] = useState<Place>("PLY");
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [there, setThere] = useState<Thing | null>(null);
  const [busy, setBusy] = useState(false);
  const [, upsert] = useMutation(DescribePlayer);

  const save = async () => {
    setThere(null);
    const missing = {
      ...(!name.trim() && { name: t("tokens.describe.name.missing") }),
      ...(!key.trim() && { key: t("tokens.describe.key.missing") }),
    };
    setWrong(missing);
    if (Object.keys(missing).length > 0) return;
    setBusy(true);
    try {
      const like = await ask(client, PlayersLike, { namespace, key });
      const taken = like.components.edges.map((e) => e.node).find((c) => c.key === key);
      if (taken) return setThere(taken);
      const { data, error } = await upsert({ player: { namespace, key, name: name.trim(), hash } });
      const made = data?.upsertComponents[0];
      if (made) return onDescribed(made.hash);
      if (!error) return;
      const { field, detail, code } = fieldError(error);
      setWrong(
        /^(name|key)$/.test(field)
          ? { [field]: t("tokens.server.field", { detail }) }
          : { other: t("tokens.server.other", { detail, code }) },
      );
    } catch (error) {
      setWrong({ other: error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const sends =
      event.target instanceof HTMLInputElement ||
      ((event.ctrlKey || event.metaKey) && !(event.target instanceof HTMLButtonElement));
    if (event.key === "Enter" && sends) {
      event.preventDefault(); // it saves the player, and does not make the token
      void save();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter and Esc for the fields inside
    <div className={styles.player} onKeyDown={onKeyDown}>
      <h3>{hash ? t("tokens.describe.this", { hash: short(hash) }) : t("tokens.describe.new")}</h3>
      <Field label={t("tokens.describe.name")} wrong={wrong.name} hint={t("tokens.describe.name.hint")}>
        {(props) => (
          // biome-ignore lint/a11y/noAutofocus: it was asked for just now
          <input {...props} autoFocus value={name} onChange={(e) => setName(e.target.value)} />
        )}
      </Field>
      <Field
        label={t("tokens.describe.key")}
        wrong={wrong.key}
        hint={t(hash ? "tokens.describe.key.hint" : "tokens.describe.key.hint.new")}
      >
        {(props) => <input {...props} value={key} spellCheck={false} onChange={(e) => setKey(e.target.value)} />}
      </Field>
      <Field label={t("tokens.describe.whose")} hint={t("tokens.describe.whose.hint")}>
        {(props) => (
          <select {...props} value={namespace} onChange={(e) => setNamespace(e.target.value as Place)}>
            {places.map((p) => (
              <option key={p} value={p}>
                {t(`tokens.whose.${p}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      {there && (
        <div className={styles.there}>
          <Wrong>
            <T id="tokens.describe.there" values={{ name: <bdi>{nameOf(there)}</bdi> }} />
          </Wrong>
          <Button onClick={() => onDescribed(there.hash)}>{t("tokens.describe.choose")}</Button>
        </div>
      )}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("tokens.describe.later")}</Button>
        <Button icon="plus" disabled={busy} onClick={() => void save()}>
          {busy ? t("tokens.describe.saving") : t("tokens.describe.save")}
        </Button>
      </div>
    </div>
  );
}
