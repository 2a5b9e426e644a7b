import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { useQuery } from "urql";
import { graphql, type VariablesOf } from "../api/graphql";
import { t } from "../words";
import { nameOf, short } from "./format";
import { Icon } from "./icons";
import styles from "./Picker.module.css";
import { ComponentName, type Thing, ThingFields } from "./Things";

const FindComponents = graphql(
  `
  query FindComponents($namespaces: [Namespace!], $search: String) {
    components(namespaces: $namespaces, search: $search, first: 20) {
      edges { node { ...ThingFields } }
    }
  }
`,
  [ThingFields],
);

/** Kinds of components. */
export type Namespaces = VariablesOf<typeof FindComponents>["namespaces"];
type Props = {
  label: string;
  namespaces: Namespaces;
  chosen: string[];
  /** How many may be chosen; one more takes the place of the first. */
  most?: number;
  /** What the empty field says; "Any" unless given. */
  hint?: string;
  invalid?: boolean;
  describedBy?: string;
  onChoose: (hashes: string[]) => void;
};

const wholeHash = /^[0-9a-f]{64}$/;

/**
 * Chooses components by name or by their whole hash; the choice is their hashes. A combobox by the ARIA pattern: type to search, arrows to
 * move, Enter to choose or take back, Esc to close, Backspace in the empty field to take the last one back.
 */
export function Picker(props: Props) {
  const { label, namespaces, chosen, most = 1000, hint = t("ui.picker.any"), invalid, describedBy, onChoose } = props;
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const search = useDeferredValue(typed.trim());
  const [{ data, error }] = useQuery({
    query: FindComponents,
    variables: { namespaces, search: search || null },
    pause: !open,
  });
  const found: Thing[] = open ? (data?.components.edges.map((e) => e.node) ?? []) : [];
  const hash = search.toLowerCase();
  if (open && found.length === 0 && wholeHash.test(hash)) found.push({ __typename: "", hash, name: null, key: null });

  useEffect(() => {
    if (active >= 0) document.getElementById(`${id}${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was active is another thing once something else is found
  useEffect(() => setActive(-1), [data]);

  const toggle = (hash: string) => {
    onChoose(chosen.includes(hash) ? chosen.filter((h) => h !== hash) : [...chosen, hash].slice(-most));
    setTyped("");
    setActive(-1);
    if (most === 1) setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const thing = found[active] ?? (found[0]?.hash === hash ? found[0] : undefined);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (found.length > 0) setActive((active + step + found.length + (active < 0 && step < 0 ? 1 : 0)) % found.length);
    } else if (event.key === "Enter" && open) {
      event.preventDefault();
      if (thing) toggle(thing.hash);
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      setOpen(false);
      setActive(-1);
    } else if (event.key === "Backspace" && typed === "" && chosen.length > 0) {
      onChoose(chosen.slice(0, -1));
    }
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={`${id}input`}>
        {label}
      </label>
      <div className={styles.chips}>
        {chosen.map((hash) => (
          <span key={hash} className={styles.chip}>
            <NameOf hash={hash} />
            <button
              type="button"
              className={styles.remove}
              aria-label={t("ui.picker.remove", { what: short(hash), label })}
              onClick={() => {
                toggle(hash);
                input.current?.focus();
              }}
            >
              <Icon name="close" size={12} />
            </button>
          </span>
        ))}
        <input
          ref={input}
          id={`${id}input`}
          className={styles.input}
          placeholder={chosen.length > 0 ? "" : hint}
          autoComplete="off"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={open}
          aria-controls={`${id}list`}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
          aria-activedescendant={active >= 0 ? `${id}${active}` : undefined}
          value={typed}
          onChange={(e) => {
            setTyped(e.target.value);
            setOpen(true);
            setActive(-1);
          }}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={styles.popup} hidden={!open}>
        <div id={`${id}list`} className={styles.list} role="listbox" aria-label={label} aria-multiselectable>
          {found.map((thing, i) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
            <div
              key={thing.hash}
              id={`${id}${i}`}
              role="option"
              aria-selected={chosen.includes(thing.hash)}
              data-active={i === active}
              className={styles.item}
              onMouseDown={(e) => e.preventDefault()}
              onClick={() => toggle(thing.hash)}
            >
              <span className={styles.mark}>{chosen.includes(thing.hash) && <Icon name="check" size={14} />}</span>
              <bdi>{thing.__typename ? nameOf(thing) : t("ui.picker.unknown", { hash: short(thing.hash) })}</bdi>
              {thing.key && <code>{thing.key}</code>}
            </div>
          ))}
        </div>
        {open && found.length === 0 && (
          <p className={styles.empty} role="status">
            {t(error ? "ui.picker.failed" : data ? "ui.picker.none" : "ui.picker.searching")}
          </p>
        )}
      </div>
    </div>
  );
}

/** The name behind a hash, as soon as it is known. */
export function NameOf({ hash }: { hash: string }) {
  const [{ data }] = useQuery({ query: ComponentName, variables: { hash } });
  return <bdi title={hash}>{data?.component ? nameOf(data.component) : short(hash)}</bdi>;
}
