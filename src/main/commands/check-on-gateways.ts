import type { AdminService } from '../../admin/service/admin-service.ts';
import { listNodes } from '../../admin/resources/nodes/node-operations.ts';
import { checkUpstream, listUpstreams } from '../../admin/resources/upstreams/upstream-operations.ts';
import { type CheckName, type DoctorReport, type Finding, tidyWords, type UpstreamReport, verdictsOf } from '../doctor/finding.ts';
import { StartError } from '../environment.ts';
import { awaitOperation, type ShownOperation } from './remote/await-operation.ts';

export type GatewayChecks = {
  /** Only these; all if none is named. */
  readonly upstreams: readonly string[];
  readonly checks: readonly CheckName[];
  readonly model: string | undefined;
  /** Whether requests may be sent that vendors bill. */
  readonly mayCall: boolean;
  /** The longest time of one step, in seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
};

/** The result of an operation `upstreams.check`: a report for each credential. */
export type CheckResult = { readonly credentials: readonly UpstreamReport[] };

/**
 * Lets running gateways check their upstreams, one upstream after another, as `weir doctor` does on its own machine.
 * @throws StartError without a running gateway, for an unknown upstream, or if a gateway could not check
 */
export async function checkOnGateways(service: AdminService, checks: GatewayChecks): Promise<DoctorReport> {
  const gateways = await describeGateways(service);
  const known = [...new Set((await service.call(listUpstreams)).body.items.map(({ name }) => name))];
  if (known.length === 0) throw new StartError('no gateway is running that could check its upstreams');
  const unknown = checks.upstreams.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new StartError(`there is no upstream "${unknown}"; there are: ${known.join(', ')}`);
  const upstreams: UpstreamReport[] = [];
  for (const name of checks.upstreams.length === 0 ? known : checks.upstreams) {
    if (checks.signal.aborted) break;
    upstreams.push(...(await checkOne(service, name, checks)));
  }
  const verdicts = [...gateways.map(({ verdict }) => verdict), ...verdictsOf(upstreams)];
  const { aborted } = checks.signal;
  const healthy = !aborted && !verdicts.includes('bad');
  return { healthy, aborted, simulated: false, sections: [{ title: 'Gateways', findings: gateways }], upstreams };
}

async function checkOne(service: AdminService, name: string, about: GatewayChecks): Promise<readonly UpstreamReport[]> {
  const { checks, model, mayCall, timeout, signal, onStep } = about;
  const body = { checks: [...checks], ...(model !== undefined && { model }), may_call: mayCall, timeout_s: timeout };
  const started = (await service.call(checkUpstream, { params: { name }, body })).body;
  const tell = ({ progress }: ShownOperation): void => onStep(stepOf(progress?.partial) ?? `waiting for a gateway to check ${name}`);
  const { result } = await awaitOperation(service, started, { signal, onChange: tell });
  // Written by the gateway's operation; null if it was cancelled before it began.
  return (result as CheckResult | null)?.credentials ?? [];
}

/** The step that a running check is at. */
export function stepOf(partial: unknown): string | undefined {
  return typeof partial === 'object' && partial !== null && 'step' in partial && typeof partial.step === 'string'
    ? partial.step
    : undefined;
}

async function describeGateways(service: AdminService): Promise<readonly Finding[]> {
  const { items } = (await service.call(listNodes)).body;
  return items.map(({ id, state, version, host, reported_at, config_in_force }): Finding => {
    const named = `Weir ${tidyWords(version)} on ${tidyWords(host)}`;
    if (state === 'silent')
      return {
        verdict: 'warning',
        subject: id,
        says: `${named} has not reported since ${reported_at}`,
        advice: 'look whether it still runs',
      };
    if (config_in_force) return { verdict: 'good', subject: id, says: `${named} runs with its present configuration` };
    const advice = 'run weir config check there; GET /api/v1/config/problems has the reason';
    return {
      verdict: 'bad',
      subject: id,
      says: `${named} runs with an earlier configuration, because its present file is invalid`,
      advice,
    };
  });
}
