import type { OidcSignIns } from '../accounts/people/oidc/oidc-sign-ins.ts';
import type { Principal } from '../accounts/people/principal.ts';
import type { Idempotency } from '../billing/idempotency/idempotency.ts';
import type { Clock } from '../platform/clock.ts';
import type { ProxyTest } from '../platform/http/client-address.ts';
import type { Logger } from '../platform/log.ts';
import type { Operation } from './operation.ts';
import type { ConsoleFiles } from './pages/console-files.ts';
import type { ConsoleAddress } from './server/origin.ts';
import type { Spool } from './upload.ts';

/** A session's token from a cookie, or an admin token from `Authorization`. */
export type Credential = { readonly kind: 'session' | 'token'; readonly secret: string };

export type AdminLimits = {
  readonly bodyBytesMax: number;
  /** The time for a request to arrive completely. */
  readonly requestMsMax: number;
  /** The time for an operation until its answer begins. */
  readonly operationMsMax: number;
  /** The time in which the client must read at least one byte. */
  readonly idleMsMax: number;
  /** Of one session or token; as many may arrive at once. */
  readonly requestsPerMinute: number;
  /** Wrong credentials from one address; as many may arrive at once. */
  readonly wrongCredentialsPerMinute: number;
  /** Requests from one address for a sign-in at a provider: two for each sign-in. */
  readonly oidcRequestsPerMinute: number;
};

export type AdminOptions<Services> = {
  readonly operations: readonly Operation<Services>[];
  readonly services: Services;
  /**
   * Undefined if the credential is not valid. `address` and `requestId` go into the author for the audit log. A
   * `newToken` replaces the token of the session in the browser.
   */
  readonly authenticate: (
    credential: Credential,
    request: { readonly address: string; readonly requestId: string; readonly signal: AbortSignal },
  ) => Promise<{ readonly principal: Principal; readonly newToken?: string | undefined } | undefined>;
  /** Sign-in at a provider of OpenID Connect, if one is configured. */
  readonly oidc?: OidcSignIns | undefined;
  /** Where uploads wait. Absent: operations that take a file are refused. */
  readonly uploads?: Spool;
  readonly idempotency: Pick<Idempotency, 'begin'>;
  /** The number of the last change of a subject of the audit log; 0 if there was none. */
  readonly versionOf: (subject: string) => Promise<number>;
  readonly address: ConsoleAddress;
  /** The proxies whose `X-Forwarded-For` names the client. Absent: none. */
  readonly isProxy?: ProxyTest | undefined;
  /** The built files of the pages. */
  readonly pages: ConsoleFiles;
  /** Reasons why the console cannot answer at the moment, in words that may be public. */
  readonly health: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: AdminLimits;
};
