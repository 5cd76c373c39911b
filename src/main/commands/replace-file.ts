import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * Writes a temporary file and renames it, so that neither a reader nor a crash finds half of it. The previous file is
 * kept as `<path>.before`.
 * @returns whether there was a previous file
 * @throws errors of the file system
 */
export function replaceFile(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}.draft`;
  const existed = existsSync(path);
  try {
    const handle = openSync(draft, 'w', statSync(path, { throwIfNoEntry: false })?.mode ?? 0o644);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (existed) copyFileSync(path, `${path}.before`);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return existed;
}
