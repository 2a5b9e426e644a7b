/** How a page is looked at. */
export type Look = { theme: "light" | "dark"; width: number; height: number };

const both = (width: number, height: number): [Look, Look] => [
  { theme: "light", width, height },
  { theme: "dark", width, height },
];

/** As visits begin, in both themes. */
export const wide = both(1280, 800);

/** As on a phone. */
export const narrow = both(390, 844);

/** Wide and narrow, each in both themes. */
export const looks = [...wide, ...narrow];

/** The same, and as narrow as windows are. */
export const narrowLooks = [...looks, ...both(320, 700)];
