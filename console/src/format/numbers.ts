/** Between a number and its unit. */
const space = '\u202f';
/** Between groups of digits. A narrow one is hardly seen in tables. */
const groupSpace = '\u00a0';

/** A whole number with spaces between groups of three digits: `88 102`. */
export function showCount(count: number): string {
  return Math.trunc(count)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, groupSpace)
    .replace('-', '\u2212');
}

/** A number of things, with the word of one or of several: `1 call`, `88 102 calls`. */
export function countOf(count: number, one: string, several = `${one}s`): string {
  return `${showCount(count)} ${count === 1 ? one : several}`;
}

const steps = [
  { from: 1e12, sign: 'T' },
  { from: 1e9, sign: 'G' },
  { from: 1e6, sign: 'M' },
  { from: 1e4, sign: 'k' },
] as const;

/** A number with three digits: `1.20 M`. */
export function showShort(count: number): string {
  for (const { from, sign } of steps) {
    const unit = sign === 'k' ? 1e3 : from;
    if (count < from) continue;
    const value = count / unit;
    return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)}${space}${sign}`;
  }
  return showCount(count);
}

/** A share from 0 to 1 in per cent: `0.31 %`. */
export function showShare(share: number): string {
  const percent = share * 100;
  if (percent === 0) return `0${space}%`;
  return `${percent.toFixed(percent < 1 ? 2 : 1)}${space}%`;
}

/** A duration: `312 ms`, `4.31 s`, `2 min 05 s`, `3 h 20 min`. */
export function showDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}${space}ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)}${space}s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}${space}s`;
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => value.toString().padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${space}min ${two(seconds % 60)}${space}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2880) return `${Math.floor(minutes / 60)}${space}h ${two(minutes % 60)}${space}min`;
  return `${Math.round(minutes / 1440)}${space}days`;
}

const megabyte = 1_000_000;

/** The size of a file: `12 kB`, `3.4 MB`. */
export function showBytes(bytes: number): string {
  return bytes < megabyte ? `${Math.ceil(bytes / 1000)}${space}kB` : `${(bytes / megabyte).toFixed(1)}${space}MB`;
}
