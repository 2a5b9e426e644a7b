/** Text as it is compared: without case and accents. */
export const plain = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * How well typed letters match a text, more is better; 0 if they don't. Each word typed must occur in order of its
 * letters: 8 for a letter that begins a word or comes right after the last, 1 for any other, less a little for length.
 */
export function score(typed: string, text: string): number {
  const into = plain(text);
  let sum = 0;
  for (const word of plain(typed).split(/\s+/).filter(Boolean)) {
    const part = wordScore(word, into);
    if (part === 0) return 0;
    sum += part;
  }
  return sum === 0 ? 0 : sum + 1 / (1 + into.length);
}

// The best of all places where the first letter stands: greedy from there.
function wordScore(word: string, into: string): number {
  let best = 0;
  for (let start = into.indexOf(word.charAt(0)); start >= 0; start = into.indexOf(word.charAt(0), start + 1)) {
    let sum = 0;
    let last = start - 1;
    let at = start;
    for (const letter of word) {
      at = into.indexOf(letter, last + 1);
      if (at < 0) break;
      sum += begins(into, at) || (at === last + 1 && at !== start) ? 8 : 1;
      last = at;
    }
    if (at < 0) break; // nor from any later start
    best = Math.max(best, sum);
  }
  return best;
}

const begins = (text: string, at: number): boolean => at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
