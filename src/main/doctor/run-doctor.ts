import { createIds } from '../../platform/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import { baseUrlOf } from '../config/build-settings.ts';
import { chooseProxy } from '../egress/choose-proxy.ts';
import { openSecrets } from '../egress/open-secrets.ts';
import type { ConfiguredUpstream } from '../config/config-schema.ts';
import { type Environment, StartError } from '../environment.ts';
import { startSimulatedUpstreams } from '../programs/start-simulated-upstreams.ts';
import { checkClock } from './check-clock.ts';
import { checkConfiguration, describeKeySource, type UsableConfiguration } from './check-configuration.ts';
import { checkDataDirectory } from './check-data-directory.ts';
import { checkObjectStore } from './check-media-storage.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkRunningGateway } from './check-running-gateway.ts';
import { chooseChecks } from './examine-model.ts';
import { type UpstreamExamination, examineUpstream } from './examine-upstream.ts';
import { type CheckName, type DoctorReport, type MatrixRow, type Section, verdictsOf } from './finding.ts';
import type { CheckedUpstream } from './checked-upstream.ts';
import { openReach } from './open-reach.ts';

export type DoctorOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Only these upstreams; all if none is named. */
  readonly upstreams: readonly string[];
  readonly checks: readonly CheckName[];
  readonly model: string | undefined;
  /** Whether requests may be sent that vendors bill. */
  readonly mayCall: boolean;
  /** The longest that one step may take. */
  readonly timeoutMs: number;
  readonly onStep: (what: string) => void;
  /** Called with a row of the matrix after each of its checks. */
  readonly onResult?: (row: MatrixRow) => void;
};

/** Upstreams that are examined at a time. */
const upstreamsAtOnce = 4;

/** Examines everything and reports. Throws StartError for an upstream that does not exist. */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const { clock, signal } = options;
  await using opened = new AsyncDisposableStack();
  options.onStep('secrets');
  const environment = await openSecrets(options.environment, { needs: 'keys', opened, clock });
  const reach = openReach(options, opened);
  const simulate = async (): Promise<Readonly<Record<string, ConfiguredUpstream>>> => (await startSimulatedUpstreams(opened)).upstreams;
  options.onStep('configuration');
  const { findings, usable } = await checkConfiguration({ environment, ...reach, simulate, nowMs: clock.nowMs() });
  const here: readonly Section[] = [
    { title: 'Configuration', findings },
    ...(environment.secrets === undefined || environment.secrets.describe().secrets.length === 0
      ? []
      : [{ title: 'Secrets', findings: checkSecrets(environment.secrets, clock.nowMs()) }]),
    { title: 'Data directory', findings: checkDataDirectory(environment.dataDirectory) },
    ...(await checkMediaStorage(usable, options)),
    { title: 'Running gateway', findings: await checkRunningGateway(environment, signal) },
  ];
  const examined = usable === undefined ? [] : await examineUpstreams(usable, options);
  const skews = examined.flatMap(({ clockSkewMs }) => (clockSkewMs === undefined ? [] : [clockSkewMs]));
  const sections = usable === undefined ? here : [...here, { title: 'Clock', findings: [checkClock(skews)] }];
  const upstreams = examined.map(({ report }) => report);
  const verdicts = [...sections.flatMap(({ findings }) => findings.map(({ verdict }) => verdict)), ...verdictsOf(upstreams)];
  return {
    healthy: !signal.aborted && !verdicts.includes('bad'),
    aborted: signal.aborted,
    simulated: usable?.source.type === 'simulated',
    sections,
    upstreams,
  };
}

/** Examines the named upstreams, each once for every credential. Throws StartError for an unknown one. */
export function examineUpstreams(usable: UsableConfiguration, options: DoctorOptions): Promise<readonly UpstreamExamination[]> {
  return examineAll(findPatients(usable, options), usable, options);
}

async function checkMediaStorage(
  usable: UsableConfiguration | undefined,
  { timeoutMs, signal, onStep }: DoctorOptions,
): Promise<readonly Section[]> {
  const s3 = usable?.config.mediaStorage?.s3;
  if (s3 === undefined || signal.aborted) return [];
  onStep('media storage');
  // An aborted check has no verdict.
  const finding = await checkObjectStore(s3, { timeoutMs, signal }).catch(() => undefined);
  return finding === undefined ? [] : [{ title: 'Media storage', findings: [finding] }];
}

function findPatients(usable: UsableConfiguration, { environment, upstreams: asked }: DoctorOptions): readonly CheckedUpstream[] {
  const all = usable.settings.routing.upstreams;
  const unknown = asked.find((name) => !all.some(({ id }) => id === name));
  if (unknown !== undefined) throw new StartError(`there is no upstream "${unknown}"; there are: ${all.map(({ id }) => id).join(', ')}`);
  return all
    .filter(({ id }) => asked.length === 0 || asked.includes(id))
    .map((upstream) => {
      const origin = originOf(upstream, usable);
      const proxy = chooseProxy(origin, usable.source.upstreams[upstream.id] ?? {}, environment.proxies);
      const keySource = describeKeySource(upstream, usable, environment);
      return { upstream, origin, address: origin + upstream.basePath, keySource, ...(proxy === undefined ? {} : { proxy }) };
    });
}

/** The settings contain connections, but not their addresses. */
function originOf({ id }: Upstream, { source }: UsableConfiguration): string {
  const configured = source.upstreams[id];
  return new URL(configured === undefined ? '' : (baseUrlOf(configured) ?? '')).origin;
}

/** Examines upstreams concurrently, a few at a time. The reports are in the order of the configuration. */
async function examineAll(
  patients: readonly CheckedUpstream[],
  configuration: UsableConfiguration,
  options: DoctorOptions,
): Promise<readonly UpstreamExamination[]> {
  const { clock, signal, timeoutMs, model, onStep, onResult } = options;
  const waiting = [...patients.entries()];
  const examined: UpstreamExamination[] = [];
  const newId = createIds(clock);
  const checks = chooseChecks(options.checks, options.mayCall);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, checked] = next;
      const limits = { timeoutMs, signal };
      examined[place] = await examineUpstream(checked, {
        limits,
        configuration,
        model,
        checks,
        nowMs: clock.nowMs,
        newId,
        onStep,
        onResult,
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(upstreamsAtOnce, patients.length) }, work));
  return examined;
}
