import type { Logger } from '../../../../platform/log.ts';
import type { HealthQuery } from '../health.ts';
import { createHealth } from '../create-health.ts';
import type { AttemptVerdict, Health, HealthSubject, TargetHealth } from '../health.ts';
import type { HealthSettings } from '../health-settings.ts';

export const answered: AttemptVerdict = { type: 'answered' };
export const failed: AttemptVerdict = { type: 'failed', cause: 'reply' };
export const unreachable: AttemptVerdict = { type: 'failed', cause: 'connection' };
export const silent: AttemptVerdict = { type: 'failed', cause: 'silence' };
export const limited: AttemptVerdict = { type: 'rate-limited' };
export const unknown: AttemptVerdict = { type: 'unknown' };
export const badKey: AttemptVerdict = { type: 'rejected', reach: 'credential' };
export const badModel: AttemptVerdict = { type: 'rejected', reach: 'model' };

export const subject = (upstreamModel = 'm', credentialId = 'c', upstreamId = 'u'): HealthSubject => ({
  upstreamId,
  credentialId,
  upstreamModel,
});

/** Health with a clock that tests move. Durations are exact: random is in the middle by default. */
export function setUpHealth(settings: Partial<HealthSettings> = {}, random: () => number = () => 0.5, avoidsFailing?: () => boolean) {
  const clock = { ms: 1000 };
  const lines: string[] = [];
  const write = (level: string) => (_fields: unknown, message: string) => void lines.push(`${level}: ${message}`);
  const logger = { debug: () => {}, info: write('info'), warn: write('warn'), error: write('error') } as unknown as Logger;
  const health: Health = createHealth({
    clock: { monotonicMs: () => clock.ms },
    random,
    logger,
    settings,
    ...(avoidsFailing === undefined ? {} : { avoidsFailing }),
  });
  const of = (upstreamModel?: string, credentialId?: string, upstreamId?: string): TargetHealth =>
    health.of(subject(upstreamModel, credentialId, upstreamId));
  return {
    health,
    of,
    lines,
    clock,
    advance: (ms: number) => void (clock.ms += ms),
    /** One attempt that takes no time. */
    attempt: (target: TargetHealth, verdict: AttemptVerdict, call?: HealthQuery): void => {
      const ticket = target.begin(call);
      ticket.headArrived();
      ticket.end(verdict);
    },
    /** The state, or the reason why it is unusable and its milliseconds, as text. */
    see: (target: TargetHealth, caller?: string): string => {
      const seen = target.availability(clock.ms, caller);
      return seen.usable ? seen.state : `${seen.reason} ${Math.round(seen.againInMs)}`;
    },
  };
}
