/**
 * Presses the button of the list's row that has the focus, or the only one that there is; where there are several, and
 * none has the focus, gives it to the first. name: the button's data-press.
 */
export function press(name: string): void {
  const all = [...document.querySelectorAll<HTMLElement>(`[data-press="${name}"]`)];
  const row = document.activeElement?.closest("li");
  const meant = all.find((button) => row?.contains(button)) ?? (all.length === 1 ? all[0] : undefined);
  if (meant) meant.click();
  else all[0]?.focus();
}
