import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The address of a bundle's folder, or undefined if there is none, or if a file that it was made of has changed since.
 * @param {URL} root the folder of the sources
 * @returns {URL | undefined}
 */
export function findBundle(root) {
  const folder = new URL('.build/', root);
  try {
    const inputs = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));
    const path = fileURLToPath(root);
    return inputs.every((input) => isUnchanged(path, input)) ? folder : undefined;
  } catch {
    // No bundle was made.
    return undefined;
  }
}

function isUnchanged(root, [path, bytes, changedMs, sha256]) {
  const file = root + path;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.size !== bytes) return false;
  // A copied file has another time.
  return found.mtimeMs === changedMs || createHash('sha256').update(readFileSync(file)).digest('hex') === sha256;
}
