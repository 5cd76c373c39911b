import { readFileSync } from 'node:fs';

/** The live child processes of a primary (Linux). */
export function workerPids(primary: number): readonly number[] {
  const text = readFileSync(`/proc/${primary}/task/${primary}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
