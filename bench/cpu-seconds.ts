import { readFileSync } from 'node:fs';

/** CPU seconds that a process has used, user and system; 0 where the system does not tell. */
export function cpuSecondsOf(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    // Only Linux has /proc.
    return 0;
  }
}
