import { randomBytes } from 'node:crypto';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallerDirectory } from '../../../gateway/admission/authenticate.ts';

/** A directory of callers that also knows secrets which this process has made for calls of its own. */
export type LentCallers = {
  readonly callers: CallerDirectory;
  /**
   * Makes a secret that opens a key in this process, until `end`. The store keeps only hashes, so that nothing else can
   * make a call with the rights of a given key.
   */
  readonly lend: (key: ApiKey) => { readonly secret: string; readonly end: () => void };
};

export function lendCallers(directory: CallerDirectory): LentCallers {
  const lent = new Map<string, ApiKey>();
  return {
    callers: {
      ...directory,
      find: (secret) => (lent.size > 0 ? lent.get(secret) : undefined) ?? directory.find(secret),
    },
    lend: (key) => {
      const secret = `lent-${randomBytes(32).toString('base64url')}`;
      lent.set(secret, key);
      return { secret, end: () => void lent.delete(secret) };
    },
  };
}
