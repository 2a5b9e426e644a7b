import { useEffect, useRef, useState } from "react";
import { useAction } from "../actions/useAction";
import { Icon } from "./icons";
import styles from "./SearchBox.module.css";

const pause = 250; // milliseconds without a key before a search starts

type Props = { value: string; label: string; onSearch: (text: string) => void };

/** A search field, which the key that finds leads to. onSearch gets the text once its writer pauses. */
export function SearchBox({ value, label, onSearch }: Props) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const send = useRef(onSearch);
  useEffect(() => {
    send.current = onSearch;
  }, [onSearch]);
  useAction("page.find", () => field.current?.focus());
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => send.current(typed.trim()), pause);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <label className={styles.box}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
      />
    </label>
  );
}
