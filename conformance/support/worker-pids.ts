import { readFileSync } from 'node:fs';

/** The processes that a primary has started and that live (Linux). */
export function workerPids(primary: number): readonly number[] {
  const text = readFileSync(`/proc/${primary}/task/${primary}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
