import { readFileSync } from 'node:fs';

/** Resident memory of a process in bytes; undefined where the system has no /proc. */
export function residentBytes(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    // Other systems tell it otherwise; tests of memory skip there.
    return undefined;
  }
}
