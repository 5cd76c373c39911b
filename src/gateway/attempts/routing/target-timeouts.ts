import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { GatewayTimeouts } from '../../settings/limits.ts';

/** What may differ from target to target. */
export type TimeoutOverrides = Partial<Pick<GatewayTimeouts, 'firstByteMs' | 'idleMs' | 'totalMs'>>;

/** The timeouts of a target, complete, for streams and for whole replies. */
export type TargetTimeouts = { readonly stream: GatewayTimeouts; readonly whole: GatewayTimeouts };

/** Says which timeouts a target has: undefined where they are those of the settings. */
export type TimeoutRule = (
  upstream: { readonly vendor: UpstreamVendor; readonly traitsOf: (upstreamModel: string) => ModelTraits },
  upstreamModel: string,
  overrides?: TimeoutOverrides,
) => TargetTimeouts | undefined;

/**
 * A stream of a model that does not think begins within seconds; one that has not after a minute will not. Models that think and whole replies
 * are silent for as long as they work.
 */
const promptFirstByteMs = 60_000;

/**
 * Makes the rule of a configuration. What a target or its model sets beats what is set for all, which beats the rule for streams.
 * @param isFirstByteSet whether the operator set `firstByteMs` for all
 */
export function createTimeoutRule(timeouts: GatewayTimeouts, isFirstByteSet: boolean): TimeoutRule {
  const prompt: TargetTimeouts = { stream: { ...timeouts, firstByteMs: promptFirstByteMs }, whole: timeouts };
  return (upstream, upstreamModel, overrides) => {
    const isPrompt = !isFirstByteSet && answersPromptly(upstream.vendor, upstream.traitsOf(upstreamModel));
    const usual = isPrompt ? prompt : undefined;
    if (overrides === undefined || Object.keys(overrides).length === 0) return usual;
    return { stream: { ...(usual?.stream ?? timeouts), ...overrides }, whole: { ...timeouts, ...overrides } };
  };
}

function answersPromptly({ answersLate }: UpstreamVendor, { reasoning, alwaysReasons }: ModelTraits): boolean {
  return answersLate !== true && reasoning === 'none' && !alwaysReasons;
}

/** The timeouts of a call at a target. `settings` are those of the configuration. */
export function timeoutsOf(
  target: { readonly timeouts?: TargetTimeouts | undefined },
  stream: boolean,
  settings: GatewayTimeouts,
): GatewayTimeouts {
  const { timeouts } = target;
  if (timeouts === undefined) return settings;
  return stream ? timeouts.stream : timeouts.whole;
}
