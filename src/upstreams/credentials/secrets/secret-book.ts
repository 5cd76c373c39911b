import { setTimeout as delay } from 'node:timers/promises';

import type { CredentialMeans } from '../credential-means.ts';
import { type CredentialSource, CredentialError, type SourceState } from '../credential-source.ts';
import { refreshCredentials } from '../refresh-credentials.ts';
import { openAwsSecrets } from './read-aws-secret.ts';
import { openAzureSecrets } from './read-azure-secret.ts';
import { openGoogleSecrets } from './read-google-secret.ts';
import { openSecretFiles } from './read-secret-file.ts';
import { openVault } from './read-vault.ts';
import { parseSecretReference, type SecretReference } from './secret-reference.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';
import { defaultSecrets, type SecretsSettings } from './secrets-schema.ts';

type Kind = SecretReference['kind'];

const stores: Readonly<Record<Kind, (settings: SecretsSettings, means: CredentialMeans) => SecretStore>> = {
  file: (_settings, means) => openSecretFiles(means),
  vault: openVault,
  'aws-sm': openAwsSecrets,
  'gcp-sm': openGoogleSecrets,
  'azure-kv': openAzureSecrets,
};

/** The part of the settings that a kind of store reads. A change of it opens another store. */
const partOf: Readonly<Record<Kind, (settings: SecretsSettings) => unknown>> = {
  file: () => undefined,
  vault: ({ vault }) => vault,
  'aws-sm': ({ aws }) => aws,
  'gcp-sm': ({ google }) => google,
  'azure-kv': ({ azure }) => azure,
};

/** The facts about a secret, without it. */
type SecretState = SourceState & {
  /** The reference without `${` and `}`. */
  readonly reference: string;
  readonly store: string;
  /** When its present value was first seen, in Unix milliseconds. Absent: it was never read. */
  readonly changedAtMs?: number;
};

/** The login of a store. */
type LoginState = SourceState & { readonly store: string };

/** The secrets that the configuration of a process refers to. They are read again in the background. */
export type SecretBook = {
  /** From now on these are read, and no others. A reference that is not well formed is left out. */
  readonly use: (references: readonly string[], settings: SecretsSettings) => void;
  /** The value of a reference, at once. @throws CredentialError why there is none */
  readonly find: (reference: string) => string;
  /** The source that has this value now, or whose reference this text is, with `${` and `}`. */
  readonly sourceOf: (value: string) => CredentialSource<string> | undefined;
  /** Whether its first reading has ended, well or not. */
  readonly isDecided: (reference: string) => boolean;
  /** Waits until all have a value, or are refused by their stores, at most this long. */
  readonly wait: (references: readonly string[], limitMs: number, signal: AbortSignal) => Promise<void>;
  /** Changes with every new value. */
  readonly version: () => number;
  readonly describe: () => { readonly secrets: readonly SecretState[]; readonly logins: readonly LoginState[] };
  readonly close: () => Promise<void>;
};

export type SecretBookOptions = {
  readonly means: CredentialMeans;
  /** Called when a secret cannot be read, once until it can be read again, and when its value has changed. */
  readonly onFailure?: (reference: string, reason: string) => void;
  readonly onRecovery?: (reference: string) => void;
  readonly onChange?: (reference: string) => void;
  /** How often secrets are looked at that may be due. Default: a second. */
  readonly tickMs?: number;
};

type Entry = {
  readonly reference: SecretReference;
  readonly store: SecretStore;
  readonly source: CredentialSource<string>;
  value: string | undefined;
  changedAtMs: number | undefined;
  failure: CredentialError | undefined;
};

/** Opens an empty book. */
export function createSecretBook(options: SecretBookOptions): SecretBook {
  return new Book(options);
}

class Book implements SecretBook {
  readonly #options: SecretBookOptions;
  readonly #closing = new AbortController();
  /** By kind and settings. Stores stay open until the end, for calls that began before a change. */
  readonly #stores = new Map<string, SecretStore>();
  /** By store, text and interval, for the same reason. */
  readonly #entries = new Map<string, Entry>();
  /** The ones in use, by text. */
  #used = new Map<string, Entry>();
  #version = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(options: SecretBookOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), options.tickMs ?? 1_000);
    this.#timer.unref();
  }

  readonly use: SecretBook['use'] = (references, settings) => {
    const used = new Map<string, Entry>();
    for (const text of references) {
      const reference = parseSecretReference(text);
      if (typeof reference !== 'string') used.set(text, this.#open(reference, settings));
    }
    this.#used = used;
    this.#tick();
  };

  #open(reference: SecretReference, settings: SecretsSettings): Entry {
    const { means } = this.#options;
    const storeKey = JSON.stringify([reference.kind, partOf[reference.kind](settings)]);
    const { refreshSeconds = defaultSecrets.refreshSeconds } = settings;
    return this.#entries.getOrInsertComputed(JSON.stringify([storeKey, reference.text, refreshSeconds]), () => {
      const store = this.#stores.getOrInsertComputed(storeKey, () => stores[reference.kind](settings, means));
      const source = refreshCredentials<string>({
        clock: means.clock,
        recheckMs: refreshSeconds * 1000,
        trustedMs: 0,
        // A file costs nothing to try.
        ...(reference.kind === 'file' && { pauseMs: { first: 1_000, most: 1_000 } }),
        fetch: async (signal) => {
          try {
            const { value, recheckMs } = await store.read(reference, signal);
            this.#take(entry, value);
            const soonest = Math.min(recheckMs ?? Number.POSITIVE_INFINITY, refreshSeconds * 1000);
            return { credential: value, origin: store.title, recheckMs: soonest };
          } catch (cause) {
            throw this.#fail(entry, cause);
          }
        },
      });
      const entry: Entry = { reference, store, source, value: undefined, changedAtMs: undefined, failure: undefined };
      return entry;
    });
  }

  #take(entry: Entry, value: string): void {
    const { onRecovery, onChange, means } = this.#options;
    if (entry.failure !== undefined) onRecovery?.(entry.reference.text);
    entry.failure = undefined;
    if (entry.value === value) return;
    if (entry.value !== undefined) onChange?.(entry.reference.text);
    entry.value = value;
    entry.changedAtMs = means.clock.nowMs();
    this.#version += 1;
  }

  #fail(entry: Entry, cause: unknown): CredentialError {
    const { store, reference } = entry;
    const said = cause instanceof Error ? cause.message : 'unknown error';
    const message = `the secret "\${${reference.text}}" cannot be read: ${said}`;
    const error =
      cause instanceof SecretRefusedError ? new SecretRefusedError(message, { cause }) : new CredentialError(message, { cause });
    if (entry.failure?.message !== message && !this.#closing.signal.aborted)
      this.#options.onFailure?.(reference.text, `${store.title}: ${said}`);
    entry.failure = error;
    return error;
  }

  /** Lets each source look whether it is due. */
  #tick(): void {
    for (const { source } of this.#used.values()) {
      const current = source.current(this.#closing.signal);
      // The failure is kept by the entry.
      if (current instanceof Promise) current.catch(() => {});
    }
  }

  readonly find: SecretBook['find'] = (reference) => {
    const entry = this.#used.get(reference);
    if (entry?.value !== undefined) return entry.value;
    throw entry?.failure ?? new CredentialError(`the secret "\${${reference}}" has not been read yet`);
  };

  readonly isDecided: SecretBook['isDecided'] = (reference) => {
    const entry = this.#used.get(reference);
    return entry === undefined || entry.value !== undefined || entry.failure !== undefined;
  };

  readonly wait: SecretBook['wait'] = async (references, limitMs, signal) => {
    const limit = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(limitMs)]);
    await Promise.all(
      references.map(async (reference) => {
        const entry = this.#used.get(reference);
        while (entry !== undefined && entry.value === undefined && !(entry.failure instanceof SecretRefusedError) && !limit.aborted) {
          try {
            await entry.source.current(limit);
          } catch {
            // The source retries after its pause, and the entry keeps the reason. The limit ends the loop.
            await delay(100, undefined, { signal: limit }).catch(() => {});
          }
        }
      }),
    );
  };

  readonly sourceOf: SecretBook['sourceOf'] = (value) => {
    const found = [...this.#used.values()].find((entry) => entry.value === value || `\${${entry.reference.text}}` === value);
    return found?.source;
  };

  readonly version: SecretBook['version'] = () => this.#version;

  readonly describe: SecretBook['describe'] = () => {
    const used = [...this.#used.values()];
    const inUse = new Set(used.map(({ store }) => store));
    return {
      secrets: used.map(({ reference, store, source, changedAtMs }) => ({
        ...source.describe(),
        reference: reference.text,
        store: store.title,
        ...(changedAtMs !== undefined && { changedAtMs }),
      })),
      logins: [...inUse].flatMap(({ title, credential }) => (credential === undefined ? [] : [{ ...credential.describe(), store: title }])),
    };
  };

  readonly close: SecretBook['close'] = async () => {
    clearInterval(this.#timer);
    this.#closing.abort(new CredentialError('the secrets were closed'));
    await Promise.all([...this.#entries.values()].map(({ source }) => source.close()));
    await Promise.all([...this.#stores.values()].map((store) => store.close()));
  };
}
