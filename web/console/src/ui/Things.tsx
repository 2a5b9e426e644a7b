import { Link } from "wouter";
import { graphql } from "../api/graphql";
import { t } from "../words";
import { initials, nameOf } from "./format";
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

/** A component as far as it is shown here. */
export type Thing = { __typename: string; hash: string; name: string | null; key: string | null };

const icons: Record<string, IconName> = { Hashtag: "tag", Flag: "flag", Item: "item", Location: "location" };
const kinds = ["Player", "Hashtag", "Flag", "Item", "Location"] as const;

/** What a kind of component is called; the type's own name if it has none. */
export function kindName(type: string): string {
  const kind = kinds.find((k) => k === type);
  return kind ? t(`ui.thing.${kind}`) : type;
}

/** Letters on a square whose colour comes from the hash: the same everywhere, and no more than a help to the eye. */
export function Avatar({ of, small = false }: { of: Thing; small?: boolean }) {
  const hue = Number.parseInt(of.hash.slice(0, 4), 16) % 8;
  return (
    <span className={`${styles.avatar} ${small ? styles.small : ""}`} data-hue={hue} aria-hidden="true">
      {initials(nameOf(of))}
    </span>
  );
}

const kindParams: Record<string, string> = {
  Player: "players",
  Hashtag: "tags",
  Flag: "flags",
  Item: "items",
  Location: "places",
};

/** Where somebody or something is looked up. */
export const addressOf = (thing: Thing): string =>
  `/components?${new URLSearchParams({ kind: kindParams[thing.__typename] ?? "all", q: thing.key ?? thing.name ?? thing.hash })}`;

/** A player's name; on demand a link to what is known of them. */
export function PlayerName({ player, link = false }: { player: Thing; link?: boolean }) {
  if (link) {
    return (
      <Link href={addressOf(player)}>
        <PlayerName player={player} />
      </Link>
    );
  }
  return (
    <bdi className={player.name ? undefined : styles.unnamed} title={player.hash}>
      {nameOf(player)}
    </bdi>
  );
}

/** A tag, flag, item or place; on demand a link to what is known of it. */
export function Chip({ thing, main = false, link = false }: { thing: Thing; main?: boolean; link?: boolean }) {
  if (link) {
    return (
      <Link href={addressOf(thing)}>
        <Chip thing={thing} main={main} />
      </Link>
    );
  }
  return (
    <span className={styles.chip} title={t("ui.thing.titled", { kind: kindName(thing.__typename), hash: thing.hash })}>
      <Icon name={icons[thing.__typename] ?? "components"} size={12} />
      <span className={styles.hidden}>{t("ui.thing.named", { kind: kindName(thing.__typename) })}</span>
      <bdi>{nameOf(thing)}</bdi>
      {main && <span className={styles.main}>{t("ui.thing.main")}</span>}
    </span>
  );
}
