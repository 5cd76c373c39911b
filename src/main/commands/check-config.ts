import { loadConfig } from '../config/load-config.ts';
import { buildSettings, findBrokenTargets, findModelLists, findUpstreams } from '../config/build-settings.ts';
import { createUpstreamClient } from '../../platform/http/upstream-client.ts';
import { describeModels } from './describe-models.ts';
import { type Environment, StartError } from '../environment.ts';

/**
 * `weir config check`: reads the configuration as a start does and prints the upstreams and models. Secrets are not
 * read, so that it also works where they may not be.
 * @throws ConfigError naming every problem
 */
export function checkConfig(environment: Environment): void {
  const { config, priceBookData } = loadConfig(environment.configPath, { variable: environment.variable });
  const source = findUpstreams(config, environment.variable, {});
  if (source === undefined || source.type === 'simulated') {
    console.log(
      'The configuration is good. Neither the configuration nor the environment has an upstream, so the simulated vendors would answer.',
    );
    return;
  }
  const [broken] = findBrokenTargets(config, source);
  if (broken !== undefined) throw new StartError(broken);
  const settings = buildSettings({
    config,
    source,
    priceBookData,
    configuredAtMs: 0,
    // No request is sent through these clients.
    pools: (origin, connectTimeoutMs) => createUpstreamClient({ origin, connectTimeoutMs, headerBytesMax: 16_384 }),
  });
  console.log(`The configuration is good. Prices, without those published in the store: ${settings.routing.priceBook.version}.`);
  const s3 = config.mediaStorage?.s3;
  if (s3 !== undefined) console.log(`  videos are stored in bucket ${s3.bucket} at ${s3.endpoint}; weir doctor checks write access`);
  const queried = new Set(findModelLists(config, source).map(({ upstreamId }) => upstreamId));
  const listed = new Map(settings.routing.upstreams.map((upstream) => [upstream.id, upstream]));
  for (const { id, vendor, dialects } of listed.values())
    console.log(
      `  upstream ${id}: ${vendor.title}, speaks ${dialects.join(', ')}${queried.has(id) ? '; its list of models is queried at the start' : ''}`,
    );
  for (const line of describeModels(settings.routing, config.models ?? {})) console.log(`  ${line}`);
}
