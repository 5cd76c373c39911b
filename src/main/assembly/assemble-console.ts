import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { createOidcProvider } from '../../accounts/people/oidc/oidc-provider.ts';
import { createOidcSignIns, type OidcSignIns } from '../../accounts/people/oidc/oidc-sign-ins.ts';
import { createPrincipals, type Principals } from '../../accounts/people/principals.ts';
import type { AdminOptions } from '../../admin/admin-options.ts';
import { openConsoleFiles } from '../../admin/pages/console-files.ts';
import { unavailable } from '../../admin/problem.ts';
import { type AdminServices, operations } from '../../admin/resources/registry.ts';
import { adminLimitsDefault } from '../../admin/server/create-admin.ts';
import { createAdminLater } from '../../admin/server/create-admin-later.ts';
import { configurationAuthor } from '../../audit/change-author.ts';
import { createIdempotency } from '../../billing/idempotency/idempotency.ts';
import { defaultIdempotencySettings } from '../../billing/idempotency/idempotency-settings.ts';
import { uploadBytesMax } from '../../admin/upload.ts';
import { UploadSpool } from '../../gateway/endpoints/shared/upload-spool.ts';
import type { Clock } from '../../platform/clock.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';
import { closeGracefully } from '../../platform/http/close-gracefully.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config/config-schema.ts';
import { buildOidcSettings } from '../config/oidc-settings.ts';
import { createFetch } from '../egress/create-fetch.ts';
import type { Environment } from '../environment.ts';
import { formatUrl, listenError } from '../programs/listen.ts';
import { startConsoleOperations } from './console-operations.ts';
import { loadStoreKey } from './load-store-key.ts';
import { archiveDaily } from './run-archiving.ts';
import { openCallExports } from './open-call-exports.ts';
import { sweepPlayground } from './open-playground.ts';
import { openQuestionStore } from './open-question-store.ts';
import { openAdminServices, type ServingParts } from './open-admin-services.ts';
import { openWorkbooks } from './open-workbooks.ts';

export type ConsoleParts = {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly store: Store;
  readonly clock: Clock;
  /** The gateway of this process, if it has one. */
  readonly gateway?: { readonly url: string; readonly wakeOperations: () => void } | undefined;
  readonly opened: AsyncDisposableStack;
  /** Whether layers may be published if the file does not say so. */
  readonly editsConfig: boolean;
};

export type RunningConsole = {
  readonly url: string;
  /** A link that signs the first operator in, once. Undefined if the database does not answer. */
  readonly link: string | undefined;
};

/** The built files of the console, in the folder of the program. */
const builtPages = new URL('../../../console/dist/', import.meta.url);

/** The longest time for running answers at shutdown. */
const closeGraceMs = 5000;
const healthMsMax = 1500;
const linkMsMax = 5000;
const uploadsBytesMax = 3 * uploadBytesMax;

/** Assembles the admin API and begins to serve. */
export async function assembleConsole(parts: ConsoleParts): Promise<RunningConsole> {
  const { environment, logger, store, clock, opened } = parts;
  const { host, consolePort = 0 } = environment;
  let boundPort = consolePort;
  const localUrl = (): string => formatUrl(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, boundPort);
  const ending = new AbortController();
  const questions = openQuestionStore(environment, opened);
  const runner = startConsoleOperations(parts);
  const serving: ServingParts = {
    ending: ending.signal,
    questions,
    workbooks: openWorkbooks(parts),
    callExports: openCallExports(environment, opened),
    onOperation: () => {
      runner.wake();
      parts.gateway?.wakeOperations();
    },
    gatewayUrl: parts.gateway?.url,
  };
  const { services, roles, config, close } = openAdminServices(parts, () => settings.publicUrl ?? localUrl(), serving);
  const settings = config.console ?? {};
  opened.defer(close);
  ending.signal.addEventListener('abort', () => services.playgroundRelay.close(), { once: true });
  opened.defer(sweepPlayground(services.playgroundKeys, logger));
  opened.defer(archiveDaily(parts));
  const principals = createPrincipals({ ...services, store, clock, logger, settings: () => roles });
  const idempotency = createIdempotency({
    store,
    clock,
    logger,
    key: loadStoreKey(environment),
    settings: () => ({ ...defaultIdempotencySettings, waitMs: 0 }),
    owner: `console ${randomUUID()}`,
  });
  opened.defer(() => idempotency.close());
  const app = createAdminLater<AdminServices>({
    operations,
    services,
    // Two large exports at a time, and small ones beside them.
    uploads: new UploadSpool(join(environment.dataDirectory, 'console-uploads'), () => uploadsBytesMax),
    idempotency,
    clock,
    logger,
    authenticate: createAuthenticate(principals),
    oidc: openOidc(parts, services, config),
    versionOf: (subject) => store.subjectVersion(subject),
    pages: openConsoleFiles(builtPages),
    address: { host, port: () => boundPort, ...(settings.publicUrl !== undefined && { publicUrl: new URL(settings.publicUrl) }) },
    isProxy: compileAddressList(config.trustedProxies ?? []),
    limits: { ...adminLimitsDefault, requestsPerMinute: settings.requestsPerMinute ?? adminLimitsDefault.requestsPerMinute },
    health: async () => {
      await waitFor(store.keysVersion(), healthMsMax);
      return [];
    },
  });
  await app.listen({ host, port: consolePort }).catch((error: unknown) => {
    throw listenError(error, 'WEIR_CONSOLE_PORT', host, consolePort);
  });
  opened.defer(() => closeGracefully(app, closeGraceMs));
  // Before: a stream of events would keep its connection open.
  opened.defer(() => ending.abort(new Error('the console is stopping')));
  boundPort = (app.server.address() as AddressInfo).port;
  return { url: localUrl(), link: await makeLink(services, logger) };
}

/** Sign-in at the provider of the configuration, if it names one. */
function openOidc(
  { environment, store, clock }: ConsoleParts,
  services: ReturnType<typeof openAdminServices>['services'],
  config: Config,
): OidcSignIns | undefined {
  const settings = buildOidcSettings(config);
  if (settings === undefined) return undefined;
  const provider = createOidcProvider({ settings, clock, send: createFetch(environment.proxies) });
  return createOidcSignIns({ ...services, provider, settings, store, clock });
}

function createAuthenticate(principals: Principals): AdminOptions<AdminServices>['authenticate'] {
  return async ({ kind, secret }, { address, requestId, signal }) => {
    const origin = { address, requestId };
    const found =
      kind === 'session'
        ? ((await principals.ofSession(secret, origin, signal)) ?? (await principals.ofKeySession(secret, origin, signal)))
        : await principals.ofAdminToken(secret, origin, signal);
    if (found === 'unavailable')
      throw unavailable('The session or token cannot be checked, because the database does not answer in time. Send the request again.');
    if (found === undefined) return undefined;
    return 'principal' in found ? { ...found, newToken: found.newToken } : { principal: found };
  };
}

/** A person who can start the program is an operator: the link lets one in, also after a forgotten password. */
async function makeLink({ people, signIns, consoleUrl }: AdminServices, logger: Logger): Promise<string | undefined> {
  const make = async (): Promise<string | undefined> => {
    const operator = await people.ensureOperator(configurationAuthor);
    const code = await signIns.createCode(operator.id, configurationAuthor);
    return code === undefined ? undefined : `${consoleUrl()}/#in=${code.code}`;
  };
  try {
    return await waitFor(make(), linkMsMax);
  } catch (error) {
    logger.warn({ err: error }, 'making a sign-in link failed');
    return undefined;
  }
}
