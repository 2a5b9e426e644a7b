import type { ReactNode } from "react";

// Drawn on a grid of 16, with strokes of 1.5, for this console. Always beside a word, so hidden from screen readers.
const shapes = {
  overview: <path d="M2.3 12.5a6 6 0 1 1 11.4 0M8 10.5l2.7-3.8" />,
  settings: (
    <path d="M2.5 4.5h5.5M11.5 4.5h2M2.5 11.5h2M8 11.5h5.5M9.7 2.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM6.3 9.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z" />
  ),
  threads: <path d="M2.5 3.5h8v5h-4l-2.5 2v-2h-1.5zM12.5 6.5h1v5h-1v2l-2.5-2h-3" />,
  conversations: <path d="M2.5 3h11v7.5h-5.5l-3 2.5v-2.5h-2.5zM8 4.8v2.2l1.7 1" />,
  events: <path d="M9 1.8l-5.5 7.4h4l-.8 5 5.8-7.6h-4.2z" />,
  windows: <path d="M2.5 2.5h11v11h-11zM2.5 7.5h11M5 10.5h6M5 5h2" />,
  context: <path d="M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2M5 6h4M5 8h2.5" />,
  selections: <path d="M2 3h12l-4.5 5.3v5.2l-3-1.7v-3.5z" />,
  components: <path d="M8 1.8l5.5 3v6.4l-5.5 3-5.5-3v-6.4zM2.5 4.8l5.5 3 5.5-3M8 7.8v6.4" />,
  records: <path d="M3 2.5h7.5l2.5 2.5v8.5h-10zM5.5 7h5M5.5 9.5h5M5.5 4.5h2.5" />,
  playground: <path d="M5.5 4.5l-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5" />,
  check: <path d="M3 8.5l3.3 3.3 6.7-7.3" />,
  verified: <path d="M8 1.8l5 1.7v4.2c0 3-2 5.3-5 6.5-3-1.2-5-3.5-5-6.5v-4.2zM5.6 8l1.8 1.8 3.2-3.6" />,
  quarantine: <path d="M8 1.8l5 1.7v4.2c0 3-2 5.3-5 6.5-3-1.2-5-3.5-5-6.5v-4.2zM6.2 5.8l3.6 3.6M9.8 5.8l-3.6 3.6" />,
  sealed: <path d="M8 1.8a3.2 3.2 0 0 1 1.7 5.9v2.1h3.8v4h-11v-4h3.8v-2.1a3.2 3.2 0 0 1 1.7-5.9zM2.5 11.8h11" />,
  witnessed: (
    <path d="M1.5 8c1.7-2.9 3.8-4.3 6.5-4.3s4.8 1.4 6.5 4.3c-1.7 2.9-3.8 4.3-6.5 4.3s-4.8-1.4-6.5-4.3zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z" />
  ),
  key: <path d="M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM7.5 8h6.5v2.5M11.3 8v2" />,
  warning: <path d="M8 2.2l6.2 11h-12.4zM8 6.5v3.2M8 11.6v.2" />,
  broken: <path d="M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5h-5.4l-3.5-3.5v-5.4zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" />,
  unchecked: <path d="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z" strokeDasharray="2.2 2.1" />,
  erased: <path d="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM4.2 4.2l7.6 7.6" />,
  copy: <path d="M5.5 5.5h7.5v8h-7.5zM3 10.5v-8h7.5" />,
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  sun: (
    <path d="M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM8 1.5v1.5M8 13v1.5M1.5 8h1.5M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1" />
  ),
  moon: <path d="M13.2 9.6a5.6 5.6 0 0 1-6.8-6.8 5.6 5.6 0 1 0 6.8 6.8z" />,
  system: <path d="M2 3h12v8h-12zM6 13.5h4M8 11v2.5" />,
  leave: <path d="M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3" />,
  tag: <path d="M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.5 5.5v.1" />,
  flag: <path d="M3.5 14v-11.5M3.5 3h8.5l-2 3 2 3h-8.5" />,
  item: <path d="M2.5 5h11v8.5h-11zM2.5 5l1.5-2.5h8l1.5 2.5M6.5 8h3" />,
  location: (
    <path d="M8 14c-3-3.2-4.5-5.5-4.5-7.5a4.5 4.5 0 0 1 9 0c0 2-1.5 4.3-4.5 7.5zM8 5.2a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z" />
  ),
  player: <path d="M8 2.5a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM3 13.5c.3-2.7 2.4-4 5-4s4.7 1.3 5 4" />,
  ref: <path d="M3.5 2.5v5.5h8.5M9 5l3 3-3 3" />,
  link: (
    <path d="M6.8 9.2l2.4-2.4M7.3 4.7l1.5-1.5a2.8 2.8 0 0 1 4 4l-1.5 1.5M8.7 11.3l-1.5 1.5a2.8 2.8 0 0 1-4-4l1.5-1.5" />
  ),
  search: <path d="M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2" />,
  back: <path d="M9.5 3.5l-4.5 4.5 4.5 4.5" />,
  full: <path d="M9.5 2.5h4v4M13.5 2.5l-4.5 4.5M6.5 13.5h-4v-4M2.5 13.5l4.5-4.5" />,
  up: <path d="M3.5 9.5l4.5-4.5 4.5 4.5" />,
  down: <path d="M3.5 6.5l4.5 4.5 4.5-4.5" />,
  important: <path d="M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2-3.7-2.1-3.7 2.1.8-4.2-3.1-2.9 4.2-.5z" />,
  error: <path d="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5.2v3.3M8 10.6v.2" />,
  tool: (
    <path d="M10 2.5a3.3 3.3 0 0 0-3 4.6l-4.5 4.4 2 2 4.5-4.4a3.3 3.3 0 0 0 4.3-4.3l-2 2-1.8-.3-.3-1.8 2-2a3.3 3.3 0 0 0-1.2-.2z" />
  ),
  server: <path d="M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5v.1M5 11v.1" />,
  browser: <path d="M2 3h12v10h-12zM2 6h12M4 4.5v.1M5.8 4.5v.1" />,
  retry: <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3" />,
  empty: <path d="M2.5 9l2-5.5h7l2 5.5v4h-11zM2.5 9h3l1 1.5h3l1-1.5h3" />,
  edit: <path d="M2.8 13.2l.6-3 7.3-7.3 2.4 2.4-7.3 7.3zM9.2 4.4l2.4 2.4" />,
  plus: <path d="M8 3v10M3 8h10" />,
} satisfies Record<string, ReactNode>;

/** The names of the icons. */
export type IconName = keyof typeof shapes;

/** An icon; say beside it in words what it means. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shapes[name]}
    </svg>
  );
}
