import { type ReactNode, type RefObject, useId, useRef } from "react";
import { Button } from "../Button";
import type { IconName } from "../icons";
import styles from "./Menu.module.css";

type Props = {
  icon: IconName;
  word: string;
  /** The box that opens: for whoever opens or closes it by other ways than its button. */
  box: RefObject<HTMLDivElement | null>;
  onOpen?: () => void;
  children: ReactNode;
};

/** A button that opens a box below itself, which closes on Esc and on a click elsewhere. */
export function Menu({ icon, word, box, onOpen, children }: Props) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const place = () => {
    const [at, menu] = [opener.current?.getBoundingClientRect(), box.current];
    if (!at || !menu?.matches(":popover-open")) return;
    menu.style.top = `${Math.max(8, Math.min(at.bottom + 4, window.innerHeight - menu.offsetHeight - 8))}px`;
    menu.style.left = `${Math.max(8, Math.min(at.right - menu.offsetWidth, window.innerWidth - menu.offsetWidth - 8))}px`;
    onOpen?.();
  };
  return (
    <>
      <Button ref={opener} icon={icon} popoverTarget={id} aria-haspopup="true">
        {word}
      </Button>
      <div ref={box} id={id} popover="auto" className={styles.menu} onToggle={place}>
        {children}
      </div>
    </>
  );
}
