/** How pages are looked at: both themes, wide and narrow. */
export const looks = (["light", "dark"] as const).flatMap((theme) => [
  { theme, width: 1280, height: 800 },
  { theme, width: 390, height: 844 },
]);
