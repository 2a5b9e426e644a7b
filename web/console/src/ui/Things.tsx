import { Link } from "wouter";
import { graphql } from "../api/graphql";
import { t } from "../words";
import { addressOf } from "./address";
import { initials, nameOf } from "./format";
import only from "./Heard.module.css";
import { Icon, type IconName } from "./icons";
import styles from "./Things.module.css";

/** What is needed of a component to show it. */
export const ThingFields = graphql(`
  fragment ThingFields on Component @_unmask {
    __typename
    hash
    namespace
    key
    name
  }
`);

/** What a component is called. */
export const ComponentName = graphql(
  `
  query ComponentName($hash: Hash!) {
    component(hash: $hash) { ...ThingFields }
  }
`,
  [ThingFields],
);

/** A component as far as it is shown here. */
export type Thing = {
  __typename: string;
  hash: string;
  namespace?: string | null;
  name: string | null;
  key: string | null;
};

const icons: Record<string, IconName> = {
  Player: "player",
  Hashtag: "tag",
  Flag: "flag",
  Item: "item",
  Location: "location",
};
const kinds = ["Player", "Hashtag", "Flag", "Item", "Location"] as const;

/** What a kind of component is called; the type's own name if it has none. */
export function kindName(type: string): string {
  const kind = kinds.find((k) => k === type);
  return kind ? t(`ui.thing.${kind}`) : type;
}

/** The icon of a kind of component. */
export const iconOf = (type: string): IconName => icons[type] ?? "components";

/** Letters on a square whose colour comes from the hash: the same everywhere, and no more than a help to the eye. */
export function Avatar({ of, small = false }: { of: Thing; small?: boolean }) {
  const hue = Number.parseInt(of.hash.slice(0, 4), 16) % 8;
  return (
    <span className={`${styles.avatar} ${small ? styles.small : ""}`} data-hue={hue} aria-hidden="true">
      {initials(nameOf(of))}
    </span>
  );
}

/** A player's name; on demand a link to who they are. */
export function PlayerName({ player, link = false }: { player: Thing; link?: boolean }) {
  const name = (
    <bdi className={player.name ? undefined : styles.unnamed} title={player.hash}>
      {nameOf(player)}
    </bdi>
  );
  return link ? <Link href={addressOf(player)}>{name}</Link> : name;
}

/** A tag, flag, item or place; on demand a link to what it is. */
export function Chip({ thing, main = false, link = false }: { thing: Thing; main?: boolean; link?: boolean }) {
  const kind = kindName(thing.__typename);
  const props = { className: styles.chip, title: t("ui.thing.titled", { kind, hash: thing.hash }) };
  const inside = (
    <>
      <Icon name={iconOf(thing.__typename)} size={12} />
      <span className={only.heard}>{t("ui.thing.named", { kind })}</span>
      <bdi>{nameOf(thing)}</bdi>
      {main && <span className={styles.main}>{t("ui.thing.main")}</span>}
    </>
  );
  if (!link) return <span {...props}>{inside}</span>;
  return (
    <Link href={addressOf(thing)} {...props}>
      {inside}
    </Link>
  );
}
