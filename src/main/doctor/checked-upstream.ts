import type { ProxyAddress } from '../../platform/http/proxy-address.ts';
import type { Upstream } from '../../gateway/attempts/routing/target.ts';

/** An upstream under examination, with the names that advice about it needs. */
export type CheckedUpstream = {
  readonly upstream: Upstream;
  /** Scheme, host and port. */
  readonly origin: string;
  /** The base address that is safe to show: without user, password and query. */
  readonly address: string;
  /** The proxy through which it is reached. */
  readonly proxy?: ProxyAddress;
  /** A description of the credential's source: `the key in OPENAI_API_KEY`. */
  readonly keySource: string;
};
