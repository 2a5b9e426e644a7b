import { type KeyboardEvent, useState } from "react";
import { useClient, useMutation } from "urql";
import { fieldError } from "../../api/errors";
import { ask } from "../../api/query";
import { Button } from "../../ui/Button";
import { nameOf, short } from "../../ui/format";
import type { Thing } from "../../ui/Things";
import { Field, Wrong } from "./Form";
import styles from "./NewToken.module.css";
import { DescribePlayer, type PlayerInput, PlayersLike } from "./query";

type Place = PlayerInput["namespace"];

const places: { value: Place; word: string }[] = [
  { value: "PLY", word: "of the system (PLY)" },
  { value: "PLU", word: "of a user (PLU)" },
  { value: "PLX", word: "shared (PLX)" },
];

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
    const missing = { ...(!name.trim() && { name: "Write a name." }), ...(!key.trim() && { key: "Write a key." }) };
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
      setWrong(/^(name|key)$/.test(field) ? { [field]: `The server: it ${detail}` } : { other: `${detail} (${code})` });
    } catch (error) {
      setWrong({ other: error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
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
      <h3>{hash ? `Describe the player ${short(hash)}…` : "Describe a new player"}</h3>
      <Field label="Name" wrong={wrong.name} hint="For people.">
        {(props) => (
          // biome-ignore lint/a11y/noAutofocus: it was asked for just now
          <input {...props} autoFocus value={name} onChange={(e) => setName(e.target.value)} />
        )}
      </Field>
      <Field
        label="Key"
        wrong={wrong.key}
        hint={`For programs: short, such as concierge.${hash ? "" : " The player’s hash follows from it, so it stays."}`}
      >
        {(props) => <input {...props} value={key} spellCheck={false} onChange={(e) => setKey(e.target.value)} />}
      </Field>
      <Field label="Whose" hint="Keys are unique in each of these.">
        {(props) => (
          <select {...props} value={namespace} onChange={(e) => setNamespace(e.target.value as Place)}>
            {places.map((p) => (
              <option key={p.value} value={p.value}>
                {p.word}
              </option>
            ))}
          </select>
        )}
      </Field>
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      {there && (
        <div className={styles.there}>
          <Wrong>
            There is a player with this key: <bdi>{nameOf(there)}</bdi>.
          </Wrong>
          <Button onClick={() => onDescribed(there.hash)}>Choose this player</Button>
        </div>
      )}
      <div className={styles.actions}>
        <Button onClick={onClose}>Not now</Button>
        <Button icon="plus" disabled={busy} onClick={() => void save()}>
          {busy ? "Saving…" : "Save the player"}
        </Button>
      </div>
    </div>
  );
}
