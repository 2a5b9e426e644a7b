import { type SubmitEvent, useEffect, useState } from "react";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import styles from "./BookFilter.module.css";

type Props = { value: string; known: readonly string[]; onChoose: (book: string) => void };

/** Narrows to one ledger or file by its whole name; offers those that are in the list. Enter takes it. */
export function BookFilter({ value, known, onChoose }: Props) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onChoose(typed.trim());
  };
  const change = (text: string) => {
    setTyped(text);
    if (known.includes(text)) onChoose(text); // chosen from those that are offered
  };
  return (
    <form className={styles.box} onSubmit={submit}>
      <Icon name="records" />
      <input
        list="record-books"
        aria-label={t("records.bookFilter")}
        placeholder={t("records.bookFilter.hint")}
        autoComplete="off"
        value={typed}
        onChange={(e) => change(e.target.value)}
      />
      <datalist id="record-books">
        {known.map((book) => (
          <option key={book} value={book} />
        ))}
      </datalist>
      {value !== "" && <IconButton icon="close" label={t("records.bookFilter.clear")} onClick={() => onChoose("")} />}
    </form>
  );
}
