import { readFileSync } from 'node:fs';

/**
 * CPU seconds of a process, user and system; 0 on systems that do not report it.
 * @param withEnded also those of its children that have ended
 */
export function cpuSecondsOf(pid: number | undefined, withEnded = false): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, withEnded ? 15 : 13);
    return ticks.reduce((sum, field) => sum + Number(field), 0) / 100;
  } catch {
    // Only Linux has /proc.
    return 0;
  }
}
