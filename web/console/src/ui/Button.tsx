import type { ComponentProps } from "react";
import styles from "./Button.module.css";
import { Icon, type IconName } from "./icons";

type Props = ComponentProps<"button"> & { icon?: IconName; look?: "plain" | "primary" | "quiet" };

/** A button with an icon and a word. */
export function Button({ icon, look = "plain", className = "", children, ...rest }: Props) {
  return (
    <button type="button" {...rest} className={`${styles.button} ${styles[look]} ${className}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that is only an icon; label says what it does. */
export function IconButton({ icon, label, ...rest }: ComponentProps<"button"> & { icon: IconName; label: string }) {
  return (
    <button type="button" {...rest} className={styles.iconOnly} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
