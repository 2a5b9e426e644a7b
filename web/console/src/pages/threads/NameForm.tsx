import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import styles from "./Views.module.css";
import { limits, nameIn } from "./views";

type Props = {
  label: string;
  /** The name that it begins with; the focus is in it then. */
  first?: string;
  /** What the button says for a name. */
  word: (name: string | null) => string;
  /** Takes the name; the field is emptied unless it gives false. */
  onName: (name: string) => unknown;
  onCancel?: () => void;
};

/** Asks for the name of a view. */
export function NameForm({ label, first, word, onName, onCancel }: Props) {
  const [typed, setTyped] = useState(first ?? "");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (first !== undefined) field.current?.select();
  }, [first]);
  const name = nameIn(typed);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (name !== null && onName(name) !== false) setTyped("");
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <input
        ref={field}
        className={styles.field}
        aria-label={label}
        placeholder={label}
        maxLength={limits.name}
        autoComplete="off"
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
      />
      <Button type="submit" disabled={name === null}>
        {word(name)}
      </Button>
      {onCancel && (
        <Button look="quiet" onClick={onCancel}>
          {t("ui.cancel")}
        </Button>
      )}
    </form>
  );
}
