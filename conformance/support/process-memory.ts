import { readFileSync } from 'node:fs';

/**
 * Resident memory of a process in bytes; undefined on systems without /proc.
 * @param part `RssAnon` is without pages of files
 */
export function residentBytes(pid: number | undefined, part: 'VmRSS' | 'RssAnon' = 'VmRSS'): number | undefined {
  try {
    const kilobytes = new RegExp(`^${part}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    // Other systems report it differently; tests of memory are skipped there.
    return undefined;
  }
}
