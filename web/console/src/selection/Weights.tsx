import { useId, useState } from "react";
import { useQuery } from "urql";
import { Button, IconButton } from "../ui/Button";
import { precise } from "../ui/format";
import { Why } from "../ui/Why";
import { T, t } from "../words";
import { PolicyQuery, type WeightInput } from "./query";
import styles from "./Weights.module.css";
import { isWhole, type Weight, type WeightName } from "./weights";

type Props = { chosen: readonly WeightInput[]; onChange: (weights: WeightInput[]) => void };

/** Other weights for a ranking that is only tried: each with its bounds, and what it is in the policy in use. */
export function Weights({ chosen, onChange }: Props) {
  const [{ data, error }, again] = useQuery({ query: PolicyQuery });
  const weights = data?.rankingPolicy.weights ?? [];
  const set = (name: WeightName, value: number) => onChange(chosen.map((w) => (w.name === name ? { name, value } : w)));
  if (error) {
    return (
      <div role="alert" className={styles.note}>
        <T id="selection.weights.failed" values={{ why: <Why error={error} /> }} />
        <Button icon="retry" onClick={() => again()}>
          {t("ui.again")}
        </Button>
      </div>
    );
  }
  return (
    <div className={styles.weights}>
      {chosen.map(({ name, value }) => {
        const weight = weights.find((w) => w.name === name);
        return (
          weight && (
            <One
              key={name}
              weight={weight}
              value={value}
              onChange={(v) => set(name, v)}
              onRemove={() => onChange(chosen.filter((w) => w.name !== name))}
            />
          )
        );
      })}
      <Add
        weights={weights.filter((w) => !chosen.some((c) => c.name === w.name))}
        onAdd={(w) => onChange([...chosen, { name: w.name, value: w.default }])}
      />
    </div>
  );
}

type OneProps = { weight: Weight; value: number; onChange: (value: number) => void; onRemove: () => void };

function One({ weight: w, value, onChange, onRemove }: OneProps) {
  const id = useId();
  const word = t(`selection.weight.${w.name}`);
  const step = isWhole(w.name) ? 1 : 0.01;
  const change = (text: string) => {
    if (text !== "" && Number.isFinite(Number(text))) onChange(Number(text));
  };
  return (
    <fieldset className={styles.one}>
      <legend>{word}</legend>
      <div className={styles.pair}>
        <input
          type="range"
          aria-label={t("selection.weights.slider", { weight: word })}
          min={w.min}
          max={w.max}
          step={step}
          value={value}
          onChange={(e) => change(e.target.value)}
        />
        <input
          type="number"
          aria-label={t("selection.weights.value", { weight: word })}
          aria-describedby={id}
          min={w.min}
          max={w.max}
          step={isWhole(w.name) ? 1 : "any"}
          required
          value={value}
          onChange={(e) => change(e.target.value)}
        />
        <IconButton icon="close" label={t("selection.weights.remove", { weight: word })} onClick={onRemove} />
      </div>
      <p id={id} className={styles.note}>
        {t("selection.weights.bounds", { min: precise(w.min), max: precise(w.max), usual: precise(w.default) })}
      </p>
    </fieldset>
  );
}

function Add({ weights, onAdd }: { weights: readonly Weight[]; onAdd: (weight: Weight) => void }) {
  const [name, setName] = useState<string>("RECENCY");
  const weight = weights.find((w) => w.name === name) ?? weights[0];
  if (!weight) return null;
  return (
    <div className={styles.add}>
      <label>
        <span>{t("selection.weights.which")}</span>
        <select value={weight.name} onChange={(e) => setName(e.target.value)}>
          {weights.map((w) => (
            <option key={w.name} value={w.name}>
              {t(`selection.weight.${w.name}`)}
            </option>
          ))}
        </select>
      </label>
      <Button icon="plus" onClick={() => onAdd(weight)}>
        {t("selection.weights.add")}
      </Button>
    </div>
  );
}
