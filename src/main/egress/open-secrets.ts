import { existsSync, readFileSync } from 'node:fs';

import { type Clock, systemClock } from '../../platform/clock.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { Logger } from '../../platform/log.ts';
import { createSecretBook, type SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import { defaultSecrets } from '../../upstreams/credentials/secrets/secrets-schema.ts';
import { findSecrets } from '../config/find-secrets.ts';
import type { Environment } from '../environment.ts';
import { createCredentialMeans } from './credential-sources.ts';
import { openClient } from './open-client.ts';

/** How long connections to services with secrets may take to be made. */
const connectMs = 3_000;
const headerBytesMax = 64 * 1024;

/**
 * Opens the secrets that the configuration refers to, and waits for them as long as it says. Without any reference it
 * does nothing.
 * @param needs `keys`: keys of upstreams too, because the program calls upstreams
 * @returns the environment with the secrets
 */
export async function openSecrets(
  environment: Environment,
  {
    needs,
    logger,
    opened,
    clock = systemClock,
  }: {
    readonly needs: 'keys' | 'others';
    readonly logger?: Pick<Logger, 'warn' | 'info'>;
    readonly opened: AsyncDisposableStack;
    readonly clock?: Clock;
  },
): Promise<Environment> {
  const path = environment.configPath ?? 'weir.yaml';
  // A start without its file fails later, with a message of its own.
  if (!existsSync(path)) return environment;
  const { keys, others, settings } = findSecrets(readFileSync(path, 'utf8'), environment.variable);
  // The file of a gateway may get its first reference later.
  if (keys.length + others.length === 0 && needs === 'others') return environment;
  const book = openBook(environment, clock, logger, opened);
  const used = needs === 'keys' ? [...keys, ...others] : others;
  book.use(used, settings);
  const { waitSeconds = defaultSecrets.waitSeconds } = settings;
  await book.wait(used, waitSeconds * 1000, new AbortController().signal);
  return { ...environment, secrets: book };
}

function openBook(
  environment: Environment,
  clock: Clock,
  logger: Pick<Logger, 'warn' | 'info'> | undefined,
  opened: AsyncDisposableStack,
): SecretBook {
  const clients = new Map<string, UpstreamClient>();
  const means = createCredentialMeans({
    clock,
    variable: environment.variable,
    clientOf: (origin, egress) =>
      clients.getOrInsertComputed(JSON.stringify([origin, egress.proxy]), () =>
        openClient({ origin, connectTimeoutMs: connectMs, headerBytesMax }, egress, environment.proxies),
      ),
  })({});
  const book = createSecretBook({
    means,
    onFailure: (reference, reason) => logger?.warn({ reference, reason }, 'reading a secret failed'),
    onRecovery: (reference) => logger?.info({ reference }, 'secret read after a failure'),
    onChange: (reference) => logger?.info({ reference }, 'secret changed'),
  });
  opened.defer(async () => {
    await book.close();
    await Promise.all([...clients.values()].map((client) => client.close()));
  });
  return book;
}
