import { OperationFailure, type OperationHandler } from '../../../control/operations/operation-runner.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { LiveSettings } from '../../config/live-settings.ts';
import type { UsableConfiguration } from '../../doctor/check-configuration.ts';
import type { UpstreamExamination } from '../../doctor/examine-upstream.ts';
import { type CheckName, checkNames, type MatrixRow, type UpstreamReport, verdictsOf } from '../../doctor/finding.ts';
import type { Environment } from '../../environment.ts';

export type CheckParts = { readonly environment: Environment; readonly live: LiveSettings; readonly clock: Clock };

/** What a check is about, as operations have it. */
export type Checked = {
  readonly upstreams: readonly string[];
  /** All if it is empty. */
  readonly checks: readonly string[];
  readonly model: string | null;
  /** Whether requests may be sent that vendors bill. */
  readonly mayCall: boolean;
  /** The longest time of one step. */
  readonly timeoutS: number;
};

/** The result of a check: a report for each credential. */
export type CheckResult = { readonly is_healthy: boolean; readonly credentials: readonly UpstreamReport[] };

/** Lets the doctor examine upstreams, and reports each step and each finished check of an operation. */
export async function examine(
  usable: UsableConfiguration,
  { environment, clock }: Pick<CheckParts, 'environment' | 'clock'>,
  { upstreams, checks, model, mayCall, timeoutS }: Checked,
  { signal, report }: Pick<Parameters<OperationHandler>[1], 'signal' | 'report'>,
): Promise<readonly UpstreamExamination[]> {
  // Loaded here, because few gateways ever run it.
  const { examineUpstreams } = await import('../../doctor/run-doctor.ts');
  const rows = new Map<string, MatrixRow>();
  let done = 0;
  let step = 'connecting';
  const tell = (): void => report({ done, unit: 'checks', partial: { step, matrix: [...rows.values()] } });
  return await examineUpstreams(usable, {
    environment,
    clock,
    signal,
    upstreams,
    checks: checkNames.filter((name): name is CheckName => checks.includes(name)),
    model: model ?? undefined,
    mayCall,
    timeoutMs: timeoutS * 1000,
    onStep: (next) => {
      step = next;
      tell();
    },
    onResult: (row) => {
      rows.set(`${row.upstream} ${row.model} ${row.dialect}`, row);
      done += 1;
      tell();
    },
  });
}

export function concludeCheck(credentials: readonly UpstreamReport[]): CheckResult {
  return { is_healthy: !verdictsOf(credentials).includes('bad'), credentials };
}

/** Written by the operation of the admin API, whose schema has checked it. */
type CheckInput = {
  readonly upstream: string;
  readonly checks: readonly string[];
  readonly model: string | null;
  readonly may_call: boolean;
  readonly timeout_s: number;
};

/** The doctor, for one upstream, with the settings in force. */
export function checkUpstreams(parts: CheckParts): OperationHandler {
  return async (input, context) => {
    const { upstream, checks, model, may_call: mayCall, timeout_s: timeoutS } = input as CheckInput;
    const { live } = parts;
    const usable = { config: live.config(), source: live.source(), settings: live.settings() };
    if (usable.source.upstreams[upstream] === undefined)
      throw new OperationFailure('unknown_upstream', `The gateway has no upstream ${upstream} any more.`);
    const examined = await examine(usable, parts, { upstreams: [upstream], checks, model, mayCall, timeoutS }, context);
    return concludeCheck(examined.map(({ report }) => report));
  };
}
