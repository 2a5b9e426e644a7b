import { Link } from "wouter";
import { IconButton } from "../../ui/Button";
import { t } from "../../words";
import { NameForm } from "./NameForm";
import styles from "./Views.module.css";
import type { View } from "./views";

type Props = {
  view: View;
  /** Whether it is the filter that is set now. */
  current: boolean;
  renaming: boolean;
  onOpen: () => void;
  onRename: (name: string) => void;
  onRenaming: (on: boolean) => void;
  onDelete: () => void;
};

/** One saved view: a link to it, and ways to rename and delete it. */
export function ViewLine({ view, current, renaming, onOpen, onRename, onRenaming, onDelete }: Props) {
  const { name, query } = view;
  if (renaming) {
    return (
      <li>
        <NameForm
          first={name}
          label={t("threads.views.newName", { name })}
          word={() => t("threads.views.keep")}
          onName={onRename}
          onCancel={() => onRenaming(false)}
        />
      </li>
    );
  }
  return (
    <li className={styles.line}>
      <Link
        href={query === "" ? "/threads" : `/threads?${query}`}
        className={styles.link}
        data-view={name}
        aria-current={current ? "true" : undefined}
        onClick={onOpen}
      >
        <bdi>{name}</bdi>
      </Link>
      <IconButton icon="edit" label={t("threads.views.rename", { name })} onClick={() => onRenaming(true)} />
      <IconButton icon="close" label={t("threads.views.delete", { name })} onClick={onDelete} />
    </li>
  );
}
