import type { Reply } from '../../api/client.ts';
import type { StateTone } from '../../ui/state.tsx';

export type Video = Reply<'videos.list'>['items'][number];

export const phases = {
  submitting: { sign: '◌', word: 'being submitted', tone: 'neutral' },
  queued: { sign: '○', word: 'queued', tone: 'neutral' },
  in_progress: { sign: '◐', word: 'being made', tone: 'neutral' },
  storing: { sign: '◕', word: 'being stored', tone: 'neutral' },
  completed: { sign: '●', word: 'completed', tone: 'good' },
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
} as const satisfies Readonly<Record<Video['phase'], { readonly sign: string; readonly word: string; readonly tone: StateTone }>>;

export const isOpen = ({ ended_at: at }: Video): boolean => at === null;

/** Whether its file can be read at a time. */
export function hasFile({ file }: Video, nowMs: number): boolean {
  return file !== null && (file.expires_at === null || Date.parse(file.expires_at) > nowMs);
}

/** Those that somebody should examine, then those that are made, then the others; each group newest first. */
export function sortByUrgency(videos: readonly Video[]): readonly Video[] {
  const rank = (video: Video): number => (video.alert !== null && isOpen(video) ? 0 : isOpen(video) ? 1 : 2);
  return videos.toSorted((a, b) => rank(a) - rank(b) || (a.created_at < b.created_at ? 1 : -1));
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.4 MiB` */
export function showBytes(bytes: number): string {
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)}\u202f${units[step]}`;
}
