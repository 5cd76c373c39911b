import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * Writes a file beside and renames it, so that no reader and no crash ever sees half of it. A file as it was is kept as `<path>.before`. Throws what the file system throws.
 * @returns whether there was one
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
