import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallRecords } from '../../call-records.ts';
import { createPromptCache } from '../../prompt-cache.ts';
import type { KnownKeys } from './verify-signature.ts';

/** A fault of the next call: a refusal, or the end of a stream after some frames. */
export type AwsFault =
  | { readonly at: 'status'; readonly status: number; readonly type: string }
  | { readonly at: 'stream'; readonly kind: 'exception'; readonly type: string; readonly afterFrames: number }
  | { readonly at: 'stream'; readonly kind: 'damaged'; readonly afterFrames: number };

/** Keys as they are issued. */
export type IssuedKeys = KnownKeys & { readonly accessKeyId: string };

/** The requests that came, for tests. */
type SeenRequest = { readonly target: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

const seenMax = 1000;

/** The memory of a simulated AWS account in one region. */
export class AwsState {
  readonly region: string;
  readonly vendors: Readonly<Record<'anthropic' | 'openai', string>>;
  readonly vendorKey: string;
  /** The records of the simulator, for calls that no simulated maker answers. */
  readonly records: CallRecords;
  /** How far the clock of the cloud is ahead of that of the machine. */
  skewMs = 0;
  readonly nowMs: () => number;
  /** How long issued keys live. */
  lifeMs = 3_600_000;
  /** Whether the token services answer 503. */
  tokensAreDown = false;
  /** Answers of the token services that are throttled before the next good one. */
  throttledTokens = 0;
  readonly promptCache = createPromptCache();
  readonly requests: SeenRequest[] = [];
  readonly tokenRequests: string[] = [];
  readonly #apiKeys: readonly string[] | undefined;
  readonly #keys = new Map<string, KnownKeys>();
  readonly #faults: AwsFault[] = [];
  #calls = 0;

  constructor(options: {
    readonly region: string;
    readonly vendors: AwsState['vendors'];
    readonly apiKeys?: readonly string[] | undefined;
    readonly records: CallRecords;
    readonly nowMs: () => number;
  }) {
    this.region = options.region;
    this.records = options.records;
    this.vendors = options.vendors;
    this.nowMs = () => options.nowMs() + this.skewMs;
    this.#apiKeys = options.apiKeys;
    this.vendorKey = options.apiKeys?.[0] ?? 'simulated';
  }

  /** Whether a key of Bedrock is accepted. Without known keys, any is. */
  isKnownKey(key: string): boolean {
    return this.#apiKeys === undefined || this.#apiKeys.includes(key);
  }

  readonly findKeys = (accessKeyId: string): KnownKeys | undefined => this.#keys.get(accessKeyId);

  /** Issues keys that do not end, of a user. */
  addUser(accessKeyId = `AKIA${randomBytes(8).toString('hex').toUpperCase()}`): IssuedKeys {
    const keys = { secretAccessKey: randomBytes(30).toString('base64url') };
    this.#keys.set(accessKeyId, keys);
    return { accessKeyId, ...keys };
  }

  /** Removes the keys of a user. */
  removeUser(accessKeyId: string): void {
    this.#keys.delete(accessKeyId);
  }

  /** Issues keys of a role, with a token and an end. */
  issue(): IssuedKeys & { readonly sessionToken: string; readonly expiresAtMs: number } {
    const accessKeyId = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
    const keys = {
      secretAccessKey: randomBytes(30).toString('base64url'),
      sessionToken: randomBytes(48).toString('base64'),
      expiresAtMs: Math.floor((this.nowMs() + this.lifeMs) / 1000) * 1000,
    };
    this.#keys.set(accessKeyId, keys);
    return { accessKeyId, ...keys };
  }

  /** Revokes all keys that were issued until now; those of users stay. */
  revokeIssued(): void {
    for (const [id, { sessionToken }] of this.#keys) if (sessionToken !== undefined) this.#keys.delete(id);
  }

  /** The number of a call, which makes its ids unique. */
  numberCall(): number {
    return (this.#calls += 1);
  }

  fail(fault: AwsFault): void {
    this.#faults.push(fault);
  }

  takeFault<At extends AwsFault['at']>(at: At): Extract<AwsFault, { at: At }> | undefined {
    const index = this.#faults.findIndex((fault) => fault.at === at);
    if (index === -1) return undefined;
    const [fault] = this.#faults.splice(index, 1);
    return fault as Extract<AwsFault, { at: At }>;
  }

  saw(request: SeenRequest): void {
    this.requests.push(request);
    if (this.requests.length > seenMax) this.requests.shift();
  }
}
