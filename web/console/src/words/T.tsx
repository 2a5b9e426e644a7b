import { Fragment, isValidElement, type ReactElement, type ReactNode } from "react";
import type { Id } from "./ids";
import { i18n } from "./load";
import { mask, unmask } from "./mask";
import { type Piece, pieces } from "./pieces";

type Props = {
  id: Id;
  /** What stands in its places: text, numbers, elements. */
  values?: Readonly<Record<string, string | number | ReactElement>>;
  /** What draws its tags: <link>text</link> is drawn by components.link("text"); b, i, em, strong and code need none. */
  components?: Readonly<Record<string, (inside: ReactNode) => ReactNode>>;
};

const plain: NonNullable<Props["components"]> = {
  b: (inside) => <b>{inside}</b>,
  i: (inside) => <i>{inside}</i>,
  em: (inside) => <em>{inside}</em>,
  strong: (inside) => <strong>{inside}</strong>,
  code: (inside) => <code>{inside}</code>,
};

/** A message with elements in it. */
export function T({ id, values = {}, components = {} }: Props): ReactNode {
  const simple: Record<string, string | number> = {};
  const elements: Record<string, ReactNode> = {};
  for (const [name, value] of Object.entries(values)) {
    if (isValidElement(value)) elements[name] = value;
    else simple[name] = value as string | number;
  }
  const tags = Object.fromEntries(Object.keys(elements).map((name) => [name, `<${name}/>`]));
  const draw = (piece: Piece, at: number): ReactNode => {
    if (typeof piece === "string") return <Fragment key={at}>{unmask(piece)}</Fragment>;
    const { tag, inside } = piece;
    if (tag in elements) return <Fragment key={at}>{elements[tag]}</Fragment>;
    const by = components[tag] ?? plain[tag];
    return <Fragment key={at}>{by ? by(inside.map(draw)) : inside.map(draw)}</Fragment>;
  };
  return <>{pieces(i18n._(id, { ...mask(simple), ...tags })).map(draw)}</>;
}
