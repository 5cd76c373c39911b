import { readFileSync } from 'node:fs';

/** CPU seconds of a process, user and system; 0 on systems that do not report it. */
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
