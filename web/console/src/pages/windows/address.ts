/** Where a window is shown. */
export const addressOf = (id: string): string => `/windows/${encodeURIComponent(id)}`;
