/** Icons: 16 units square, drawn with the colour of the text. */
import type { ReactNode } from "react";

const PATHS = {
  chat: <path d="M2.5 4.5a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H7l-3 3v-3.1a2 2 0 0 1-1.5-1.9z" />,
  inspector: <><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 3 3M5 7h4M7 5v4" /></>,
  replay: <path d="M7.5 4.2v7.6L2.5 8zM13.5 4.2v7.6l-5-3.8z" />,
  editor: <><path d="M2.5 4h7M12.5 4h1M2.5 8h2M7.5 8h6M2.5 12h5M10.5 12h3" /><circle cx="11" cy="4" r="1.5" /><circle cx="6" cy="8" r="1.5" /><circle cx="9" cy="12" r="1.5" /></>,
  settings: <><circle cx="8" cy="8" r="2.2" /><path d="M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4" /></>,
  analytics: <path d="M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6.5" />,
  traces: <path d="M2.5 4h6M5 8h6M7.5 12h6M2.5 4v8" />,
  file: <path d="M9 2H4.5A1.5 1.5 0 0 0 3 3.5v9A1.5 1.5 0 0 0 4.5 14h7a1.5 1.5 0 0 0 1.5-1.5V6zM9 2v4h4" />,
  upload: <path d="M8 10V2.5M5 5l3-3 3 3M2.5 10.5v1.6A1.4 1.4 0 0 0 3.9 13.5h8.2a1.4 1.4 0 0 0 1.4-1.4v-1.6" />,
  download: <path d="M8 2.5V10M5 7.5l3 3 3-3M2.5 10.5v1.6A1.4 1.4 0 0 0 3.9 13.5h8.2a1.4 1.4 0 0 0 1.4-1.4v-1.6" />,
  play: <path d="M5 3.2v9.6l7.6-4.8z" />,
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  alert: <><path d="M8 2.2 14.4 13.4H1.6z" /><path d="M8 6.4v3.2M8 11.4v.1" /></>,
  plus: <path d="M8 3v10M3 8h10" />,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" /></>,
  trash: <path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8a1 1 0 0 0 1 .9h3.8a1 1 0 0 0 1-.9l.6-8M6.8 7v3.8M9.2 7v3.8" />,
  grip: <path d="M6 4v.01M10 4v.01M6 8v.01M10 8v.01M6 12v.01M10 12v.01" strokeWidth="2" />,
  down: <path d="m4 6 4 4 4-4" />,
  right: <path d="m6 4 4 4-4 4" />,
  sun: <><circle cx="8" cy="8" r="2.8" /><path d="M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1" /></>,
  moon: <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />,
  system: <><rect x="2" y="3" width="12" height="8" rx="1.5" /><path d="M6 13.5h4" /></>,
  restore: <path d="M2.8 8a5.2 5.2 0 1 0 1.7-3.9L2.8 5.6M2.8 2.6v3h3" />,
  spinner: <path d="M8 2.2a5.8 5.8 0 1 1-5.8 5.8" />,
  key: <><circle cx="5" cy="11" r="2.7" /><path d="m7 9 6-6M10.5 5.5l2 2" /></>,
  search: <><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 3 3" /></>,
  pin: <path d="M6 2.5h4l-.6 4 2.1 2v1h-7v-1l2.1-2zM8 9.5v4" />,
  send: <path d="M8 13V3.5M4 7l4-4 4 4" />,
  edit: <path d="M3 13l.6-2.6 7.2-7.2a1.2 1.2 0 0 1 1.7 0l.3.3a1.2 1.2 0 0 1 0 1.7L5.6 12.4zM9.8 4.2l2 2" />,
  history: <><circle cx="8" cy="8" r="5.7" /><path d="M8 4.8V8l2.2 1.6" /></>,
  left: <path d="m10 4-4 4 4 4" />,
  more: <path d="M3.5 8v.01M8 8v.01M12.5 8v.01" strokeWidth="2" />,
  refresh: <path d="M13.2 8a5.2 5.2 0 1 1-1.7-3.9l1.7 1.5M13.2 2.6v3h-3" />,
  info: <><circle cx="8" cy="8" r="5.7" /><path d="M8 7.4v3.4M8 5.2v.1" /></>,
  summary: <path d="M2.5 4h11M2.5 8h7M2.5 12h4M11 10.5l1.4 1.4L15 9.4" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16, className }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={className}
    >
      {PATHS[name]}
    </svg>
  );
}
