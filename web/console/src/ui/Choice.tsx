import styles from "./Choice.module.css";
import only from "./Heard.module.css";

type Props<T extends string> = {
  label: string;
  value: T;
  options: readonly { value: T; word: string }[];
  onChoose: (value: T) => void;
};

/** One of a few, side by side. */
export function Choice<T extends string>({ label, value, options, onChoose }: Props<T>) {
  return (
    <fieldset className={styles.choice}>
      <legend className={only.heard}>{label}</legend>
      {options.map((o) => (
        <label key={o.value}>
          <input type="radio" name={label} checked={o.value === value} onChange={() => onChoose(o.value)} />
          {o.word}
        </label>
      ))}
    </fieldset>
  );
}
