import { Combobox } from "@base-ui/react/combobox";
import { useDeferredValue, useState } from "react";
import { useQuery } from "urql";
import type { VariablesOf } from "../../api/graphql";
import { nameOf, short } from "../../ui/format";
import { Icon } from "../../ui/icons";
import type { Thing } from "../../ui/Things";
import styles from "./Picker.module.css";
import { ComponentName, FindComponents } from "./query";

type Namespaces = VariablesOf<typeof FindComponents>["namespaces"];
type Props = {
  label: string;
  namespaces: Namespaces;
  chosen: string[];
  most?: number;
  onChoose: (hashes: string[]) => void;
};

/** Chooses components by name; the choice is their hashes. */
export function Picker({ label, namespaces, chosen, most, onChoose }: Props) {
  const [typed, setTyped] = useState("");
  const search = useDeferredValue(typed.trim());
  const [{ data, error }] = useQuery({
    query: FindComponents,
    variables: { namespaces, search: search || null },
  });
  const things: Thing[] = data?.components.edges.map((e) => e.node) ?? [];
  const value: Thing[] = chosen.map((hash) => ({ __typename: "", hash, name: null, key: null }));
  const choose = (list: Thing[]) => {
    onChoose(list.map((t) => t.hash).slice(most ? -most : 0));
    setTyped("");
  };
  return (
    <Combobox.Root
      multiple
      items={things}
      filter={null}
      value={value}
      onValueChange={choose}
      inputValue={typed}
      onInputValueChange={setTyped}
      itemToStringLabel={nameOf}
      isItemEqualToValue={(a: Thing, b: Thing) => a.hash === b.hash}
    >
      <div className={styles.field}>
        <Combobox.Label className={styles.label}>{label}</Combobox.Label>
        <Combobox.Chips className={styles.chips}>
          {chosen.map((hash) => (
            <Combobox.Chip key={hash} className={styles.chip}>
              <Name hash={hash} />
              <Combobox.ChipRemove className={styles.remove} aria-label={`Remove from ${label}`}>
                <Icon name="close" size={12} />
              </Combobox.ChipRemove>
            </Combobox.Chip>
          ))}
          <Combobox.Input className={styles.input} placeholder={chosen.length > 0 ? "" : "Any"} />
        </Combobox.Chips>
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} className={styles.positioner}>
          <Combobox.Popup className={styles.popup} aria-label={label}>
            <Combobox.Empty>
              <div className={styles.empty}>
                {error ? "The search failed." : data ? "Nothing of this name." : "Searching…"}
              </div>
            </Combobox.Empty>
            <Combobox.List>
              {(thing: Thing) => (
                <Combobox.Item key={thing.hash} value={thing} className={styles.item}>
                  <Combobox.ItemIndicator>
                    <Icon name="check" size={14} />
                  </Combobox.ItemIndicator>
                  <bdi>{nameOf(thing)}</bdi>
                  {thing.key && <code>{thing.key}</code>}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** The name behind a hash, as soon as it is known. */
export function Name({ hash }: { hash: string }) {
  const [{ data }] = useQuery({ query: ComponentName, variables: { hash }, requestPolicy: "cache-first" });
  return <bdi title={hash}>{data?.component ? nameOf(data.component) : short(hash)}</bdi>;
}
