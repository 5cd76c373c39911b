import type { SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import { type Finding, tidyWords } from './finding.ts';

/** The source of each secret of the configuration, or why it cannot be read. The values are not shown. */
export function checkSecrets(secrets: SecretBook, nowMs: number): readonly Finding[] {
  const { secrets: all, logins } = secrets.describe();
  const findings = all.map(({ reference, store, fetchedAtMs, failure }): Finding => {
    const subject = 'secret';
    const name = `\${${reference}}`;
    if (fetchedAtMs === undefined)
      return {
        verdict: 'bad',
        subject,
        says: tidyWords(failure?.reason ?? `the secret "${name}" was not read: ${store} has not answered`),
      };
    const says = `${name} from ${store}, read ${Math.max(0, Math.round((nowMs - fetchedAtMs) / 1000))} s ago`;
    return failure === undefined
      ? { verdict: 'good', subject, says: tidyWords(says) }
      : { verdict: 'warning', subject, says: tidyWords(`${says}; since then: ${failure.reason}`) };
  });
  const origins = logins.flatMap(({ store, origin, identity, expiresAtMs, failure }): readonly Finding[] => {
    const subject = 'login';
    if (origin === undefined)
      return failure === undefined ? [] : [{ verdict: 'bad', subject, says: tidyWords(`${store}: ${failure.reason}`) }];
    const end = expiresAtMs === undefined ? '' : `, until ${new Date(expiresAtMs).toISOString()}`;
    return [{ verdict: 'good', subject, says: tidyWords(`${store}: ${origin}${identity === undefined ? '' : `, as ${identity}`}${end}`) }];
  });
  return [...findings, ...origins];
}
