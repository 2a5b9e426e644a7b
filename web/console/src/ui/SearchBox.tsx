import { type RefObject, useEffect, useRef, useState } from "react";
import { useAction } from "../actions/useAction";
import { Icon } from "./icons";
import styles from "./SearchBox.module.css";

const pause = 250; // milliseconds without a key before a search starts

/** A search field. onSearch gets the text once its writer pauses. found: whether the key that finds leads here. */
export function SearchBox({
  value,
  label,
  found = true,
  onSearch,
}: {
  value: string;
  label: string;
  found?: boolean;
  onSearch: (text: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const send = useRef(onSearch);
  useEffect(() => {
    send.current = onSearch;
  }, [onSearch]);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => send.current(typed.trim()), pause);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <label className={styles.box}>
      {found && <Find field={field} />}
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

function Find({ field }: { field: RefObject<HTMLInputElement | null> }) {
  useAction("page.find", () => field.current?.focus());
  return null;
}
