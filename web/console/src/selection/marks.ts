/** A piece of a text; marked: it is one of the terms that matched. */
export type Piece = { text: string; marked: boolean };

const word = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Cuts a text into pieces, with the words that the terms match marked. A word matches a term if they are the same
 * without case and accents, or share a stem: a common beginning of at least four letters that lacks at most the last
 * three of each. The server stems likewise, by language; this only shows it.
 */
export function mark(text: string, terms: readonly string[]): Piece[] {
  const folded = terms.map(fold);
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(word)) {
    if (!folded.some((term) => alike(fold(match[0]), term))) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), marked: false });
    from = match.index + match[0].length;
    pieces.push({ text: match[0], marked: true });
  }
  if (from < text.length) pieces.push({ text: text.slice(from), marked: false });
  return pieces;
}

function fold(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function alike(a: string, b: string): boolean {
  if (a === b) return true;
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same >= 4 && a.length - same <= 3 && b.length - same <= 3;
}
