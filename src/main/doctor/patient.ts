import type { ProxyAddress } from '../../platform/http/proxy-address.ts';
import type { Upstream } from '../../gateway/attempts/routing/target.ts';

/** An upstream that is examined, with what advice about it has to name. */
export type Patient = {
  readonly upstream: Upstream;
  /** Scheme, host and port. */
  readonly origin: string;
  /** The base address as it may be shown: without user, password and query. */
  readonly address: string;
  /** The proxy through which it is reached. */
  readonly proxy?: ProxyAddress;
  /** Where the credential comes from, in words: `the key in OPENAI_API_KEY`. */
  readonly keySource: string;
};
