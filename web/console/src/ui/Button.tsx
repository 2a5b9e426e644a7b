import type { ComponentProps } from "react";
import { ariaOf, lineOf } from "../actions/keys";
import { type ActionId, actionOf } from "../actions/registry";
import { useOffered } from "../actions/useActions";
import { t } from "../words";
import styles from "./Button.module.css";
import { Icon, type IconName } from "./icons";

type Props = ComponentProps<"button"> & {
  icon?: IconName;
  look?: "plain" | "primary" | "quiet";
  /** An action of the registry: its key stands in the tooltip; without onClick it is done, without children named. */
  action?: ActionId;
};

/** A button with an icon and a word. */
export function Button({ icon, look = "plain", className = "", action, children, ...rest }: Props) {
  const run = useOffered(action);
  const tip = action && tipOf(action, t(`actions.${action}`));
  return (
    <button type="button" onClick={run} {...tip} {...rest} className={`${styles.button} ${styles[look]} ${className}`}>
      {icon && <Icon name={icon} />}
      {children ?? (action && t(`actions.${action}`))}
    </button>
  );
}

type IconProps = ComponentProps<"button"> & { icon: IconName; label: string; action?: ActionId };

/** A button that is only an icon; label says what it does, action which keys do. */
export function IconButton({ icon, label, action, ...rest }: IconProps) {
  const run = useOffered(action);
  const tip = action && tipOf(action, label);
  return (
    <button type="button" onClick={run} title={label} {...tip} {...rest} className={styles.iconOnly} aria-label={label}>
      <Icon name={icon} />
    </button>
  );
}

/** What an action is and its first key, on hover and for screen readers. */
export function tipOf(action: ActionId, words: string): { title: string; "aria-keyshortcuts"?: string | undefined } {
  const [keys] = actionOf(action).keys ?? [];
  if (!keys) return { title: words };
  return { title: `${words} (${lineOf(keys)})`, "aria-keyshortcuts": ariaOf(keys) };
}
