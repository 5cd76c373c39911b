import { filledText, membersOf, numberOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createUpstreamClient } from '../../platform/http/upstream-client.ts';
import type { Environment } from '../environment.ts';
import { formatUrl } from '../programs/listen.ts';
import { type Answer, AskError, askUpstream } from '../../platform/http/ask-upstream.ts';
import { parseBody } from './parse-body.ts';
import { type Finding, tidyWords } from './finding.ts';

const timeoutMs = 3000;
const subject = 'gateway';

/**
 * Reads the health of the gateway that should run here. It is not an error if none runs, because the doctor may run
 * before the start.
 */
export async function checkRunningGateway({ host, port }: Environment, signal: AbortSignal): Promise<readonly Finding[]> {
  if (port === 0) return [{ verdict: 'none', subject, says: 'WEIR_PORT is 0, so it cannot be known where one runs' }];
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = formatUrl(near, port);
  const client = createUpstreamClient({ origin: url, connectTimeoutMs: timeoutMs, headerBytesMax: 16_384 });
  const get = (path: string): Promise<Answer> =>
    askUpstream(client, { path, method: 'GET', headers: { accept: 'application/json' }, body: undefined }, { timeoutMs, signal });
  try {
    const root = membersOf(parseBody((await get('/')).body));
    if (root.name !== 'weir') {
      const says = `something else than Weir answers at ${url}`;
      return [{ verdict: 'warning', subject, says, advice: 'a start would find the port taken: set WEIR_PORT to another' }];
    }
    const health = membersOf(parseBody((await get('/health')).body));
    return [describeGateway(url, filledText(health.version) ?? filledText(root.version), health), ...describeTargets(health)];
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    if (error.code === 'ECONNREFUSED') return [{ verdict: 'none', subject, says: `none runs at ${url}` }];
    return [
      { verdict: 'warning', subject, says: `${url} does not answer (${error.code})`, advice: 'look into the log of what listens there' },
    ];
  } finally {
    void client.close();
  }
}

function describeGateway(url: string, version: string | undefined, health: JsonObject): Finding {
  const named = `Weir${version === undefined ? '' : ` ${tidyWords(version)}`} at ${url}`;
  if (health.ready === true) return { verdict: 'good', subject, says: `${named} is ready` };
  const reasons = Array.isArray(health.reasons) ? health.reasons.map((reason) => tidyWords(String(reason))) : [];
  const says = `${named} is not ready: ${reasons.length === 0 ? 'it gives no reason' : reasons.join('; ')}`;
  return { verdict: 'bad', subject, says, advice: 'look into its log; the checks below show whether its upstreams are the cause' };
}

const adviceByState: Readonly<Record<string, string>> = {
  suspect: 'its replies begin later than expected, so calls prefer other targets',
  failing: 'its last calls failed: see its row below for the reason; Weir retries it automatically',
  'rate-limited': 'the upstream limits the rate of calls: raise the limits there, or add a target',
  rejected: 'the upstream refuses the key: renew it and restart, or reload, the gateway',
};

/** The targets that the gateway itself does not consider healthy. */
function describeTargets(health: JsonObject): readonly Finding[] {
  const targets = objectsOf(health.targets);
  const ill = targets.flatMap((target): Finding[] => {
    const state = filledText(target.state) ?? 'healthy';
    if (state === 'healthy') return [];
    const name = [target.upstreamId ?? target.upstream, target.upstreamModel ?? target.model]
      .map((part) => filledText(part) ?? '?')
      .join('/');
    const againInMs = numberOf(target.againInMs);
    const again = againInMs === undefined ? '' : `, next attempt in ${Math.ceil(againInMs / 1000)} s`;
    return [
      {
        verdict: 'warning',
        subject: 'target',
        says: tidyWords(`${name} is ${state}${again}`),
        advice: adviceByState[state] ?? 'see its row below',
      },
    ];
  });
  if (targets.length === 0 || ill.length > 0) return ill;
  return [{ verdict: 'good', subject: 'targets', says: `all ${targets.length} that were called lately are healthy` }];
}
