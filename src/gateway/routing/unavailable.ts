import { type ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import type { Availability } from '../health/health.ts';

type Unusable = Extract<Availability, { usable: false }>;

const codes = {
  failing: 'upstream_unreachable',
  'rate-limited': 'upstream_rate_limited',
  rejected: 'upstream_credentials_rejected',
} as const satisfies Record<Unusable['reason'], ErrorCode>;

/**
 * The error of a call whose suitable targets are all out of use, with the reason and the time of the one that is the first to come back.
 * Agent programs decide by the words whether to try again, so they are those that vendors use.
 */
export function describeUnavailable(model: string, availabilities: readonly Availability[]): GatewayError {
  let soonest: Unusable = { usable: false, reason: 'failing', againInMs: Infinity };
  for (const availability of availabilities) {
    if (!availability.usable && (availability.againInMs < soonest.againInMs || soonest.againInMs === Infinity)) soonest = availability;
  }
  const { reason, againInMs } = soonest;
  const seconds = Number.isFinite(againInMs) ? Math.max(1, Math.ceil(againInMs / 1000)) : undefined;
  const again = seconds === undefined ? '' : ` Please try again in ${seconds}s.`;
  const name = model.slice(0, 256);
  const messages = {
    failing: `Upstream connection error: no upstream of ${name} is available at the moment.${again}`,
    'rate-limited': `Rate limit reached at every upstream of ${name}.${again}`,
    rejected: `The upstreams of ${name} refuse the credentials of this gateway; its operator has to renew them.`,
  };
  return new GatewayError(codes[reason], messages[reason], {
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    internal: `no usable target: ${availabilities.map((availability) => (availability.usable ? availability.state : availability.reason)).join(', ')}`,
  });
}
