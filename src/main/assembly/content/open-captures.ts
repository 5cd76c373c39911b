import { captureLimits, type CaptureStore } from '../../../content/captures/capture.ts';
import { type CaptureFollower, createCaptureFollower } from '../../../content/captures/follow-captures.ts';
import { createWireKeeper, type WireKeeper } from '../../../content/captures/keep-wires.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { createSealer, deriveKey, type Sealer } from '../../../platform/seal/sealer.ts';
import type { Environment } from '../../environment.ts';
import { loadStoreKey } from '../load-store-key.ts';

/** The seal of captured wires, which gateways, the console and commands share. */
export function openWireSealer(environment: Environment): Sealer {
  return createSealer(deriveKey(loadStoreKey(environment), 'captured wires'));
}

export type OpenedCaptures = {
  readonly follower: CaptureFollower;
  readonly keeper: WireKeeper;
  readonly wireBytesMax: number;
};

/** Begins to follow the orders of captures. `opened` closes it. */
export function openCaptures(
  parts: { readonly environment: Environment; readonly store: CaptureStore; readonly clock: Clock; readonly logger: Logger },
  opened: AsyncDisposableStack,
): OpenedCaptures {
  const follower = createCaptureFollower(parts);
  follower.start();
  opened.defer(() => follower.close());
  const keeper = createWireKeeper({ ...parts, sealer: openWireSealer(parts.environment) });
  opened.defer(() => keeper.close());
  return { follower, keeper, wireBytesMax: captureLimits.wireBytes };
}
