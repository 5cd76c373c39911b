import { CredentialError } from './credential-source.ts';
import type { CredentialMeans } from './credential-means.ts';

/**
 * Reads a file that was named.
 * @param by the setting or variable that names it, for the error
 * @throws CredentialError if it cannot be read
 */
export async function readNamedFile(
  by: string,
  path: string,
  { readFile }: Pick<CredentialMeans, 'readFile'>,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await readFile(path, signal);
  } catch (cause) {
    throw new CredentialError(`${by} names ${path}, which cannot be read (${codeOf(cause) ?? 'unknown error'})`, { cause });
  }
}

/**
 * Reads a file at a usual place. Undefined if there is none.
 * @throws CredentialError if it is there and cannot be read
 */
export async function readUsualFile(
  path: string,
  { readFile }: Pick<CredentialMeans, 'readFile'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await readFile(path, signal);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CredentialError(`${path} cannot be read (${code ?? 'unknown error'})`, { cause });
  }
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
