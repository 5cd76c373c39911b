import styles from './icon.module.css';

/** Outlines on a grid of 24, drawn with a line of 2. Several of them are from Lucide (ISC licence). */
const outlines = {
  overview: 'M3 13h7V3H3zM14 21h7V11h-7zM14 7h7V3h-7zM3 21h7v-4H3z',
  usage: 'M3 21h18M6 17v-6M11 17V6M16 17v-9M21 17v-4',
  calls: 'M4 6h16M4 12h16M4 18h10',
  playground: 'M6 4l13 8-13 8z',
  keys: 'M15 7a4 4 0 1 0 2 7.4L19 16h2v-3l-2.6-2.6A4 4 0 0 0 15 7zM3 21l8.5-8.5M6 18l2 2',
  credits: 'M3 7h18v12H3zM3 11h18M7 15h4',
  prices: 'M20.6 13.4 13.4 20.6a2 2 0 0 1-2.8 0L3 13V3h10l7.6 7.6a2 2 0 0 1 0 2.8zM7.5 7.5h.01',
  reconciliation: 'M12 3v18M5 7h14M5 7l-3 7h6zM19 7l-3 7h6zM8 21h8',
  upstreams: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  videos: 'M3 6h12v12H3zM15 10l6-3v10l-6-3',
  audit: 'M8 4h8v3H8zM6 5.5H5V21h14V5.5h-1M9 12h6M9 16h4',
  settings: 'M4 6h10M18 6h2M4 12h2M10 12h10M4 18h8M16 18h4M16 4v4M8 10v4M14 16v4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM21 21l-5-5',
  close: 'M5 5l14 14M19 5L5 19',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12.5l5 5L20 6.5',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  up: 'M6 15l6-6 6 6',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  menu: 'M4 6h16M4 12h16M4 18h16',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  external: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  refresh: 'M4 12a8 8 0 0 1 14-5.3L20 9M20 4v5h-5M20 12a8 8 0 0 1-14 5.3L4 15M4 20v-5h5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  warning: 'M12 4l9.5 16h-19zM12 10v4M12 17h.01',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20a7 7 0 0 1 14 0',
  filter: 'M3 5h18l-7 8v6l-4 2v-8z',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  terminal: 'M4 5h16v14H4zM8 10l3 2-3 2M13 15h3',
  live: 'M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 7.5a6 6 0 0 0 0 9M16.5 7.5a6 6 0 0 1 0 9M4.5 4.5a10.5 10.5 0 0 0 0 15M19.5 4.5a10.5 10.5 0 0 1 0 15',
  stop: 'M6 6h12v12H6z',
  star: 'M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 17l-5.2 2.7 1-5.9L3.5 9.7l5.9-.8z',
  lock: 'M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  undo: 'M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3',
  print: 'M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z',
  share: 'M12 15V4M8 8l4-4 4 4M5 13v7h14v-7',
} as const;

export type IconName = keyof typeof outlines;

/** A picture beside a word. Alone it needs a label on what contains it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: 16 | 20 | 24 }) {
  return (
    <svg className={styles['icon']} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={outlines[name]} />
    </svg>
  );
}
