import type { SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import { findSecrets } from './find-secrets.ts';

/** The secrets of a configuration that is reloaded. */
export type FollowedSecrets = {
  /**
   * Lets the book read what a text refers to. False while a new reference waits for its first reading, so that no call
   * waits for it later.
   */
  readonly areRead: (text: string) => boolean;
  /** The version of the values, if it is not the one in force. */
  readonly newVersion: () => number | undefined;
  /** Called when the values of a version are in force. */
  readonly inForce: (version: number | undefined) => void;
};

/** Follows the secrets of a book. The present values count as those in force: the configuration is read right after. */
export function followSecrets({
  secrets,
  variable,
}: {
  readonly secrets?: SecretBook | undefined;
  readonly variable: (name: string) => string | undefined;
}): FollowedSecrets {
  let used: string | undefined;
  let version = secrets?.version();
  let references: readonly string[] = [];
  return {
    areRead: (text) => {
      if (secrets === undefined) return true;
      if (text !== used) {
        const { keys, others, settings } = findSecrets(text, variable);
        references = [...keys, ...others];
        secrets.use(references, settings);
        used = text;
      }
      return references.every((reference) => secrets.isDecided(reference));
    },
    newVersion: () => {
      const present = secrets?.version();
      return present === version ? undefined : present;
    },
    inForce: (taken) => void (version = taken ?? version),
  };
}
