/** A part of a message: text, or a tag with what is inside it. */
export type Piece = string | { tag: string; inside: Piece[] };

/** Cuts text with tags into its parts. A tag that is never closed, or never opened, is the text that it is. */
export function pieces(text: string): Piece[] {
  const found = /<([A-Za-z]\w*)\/>|<([A-Za-z]\w*)>([\s\S]*?)<\/\2>/.exec(text);
  if (!found) return text === "" ? [] : [text];
  const [whole, alone, tag, inside] = found;
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + whole.length);
  const piece: Piece = { tag: alone ?? tag ?? "", inside: pieces(inside ?? "") };
  return [...(before === "" ? [] : [before]), piece, ...pieces(after)];
}
