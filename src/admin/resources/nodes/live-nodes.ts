import { type ControlStore, type NodeState, silentAfterMs } from '../../../control/nodes/node-state.ts';
import type { AdminContext } from '../../operation.ts';

export type ControlServices = { readonly control: ControlStore };

/** For how long gateways report often after somebody has looked. */
const watchMs = 15_000;
/** A gateway that was killed is listed as silent for this long. */
const listedMs = 86_400_000;

/** The gateways of a day, silent ones too. From now on they report often for a while. */
export async function watchNodes({ services, nowMs }: AdminContext<ControlServices>): Promise<readonly NodeState[]> {
  const atMs = nowMs();
  await services.control.watchNodes(atMs + watchMs);
  return await services.control.listNodeStates(atMs - listedMs);
}

/** The gateways that run. */
export async function listLiveNodes({ services, nowMs }: AdminContext<ControlServices>): Promise<readonly NodeState[]> {
  return await services.control.listNodeStates(nowMs() - silentAfterMs);
}

export function isSilent({ atMs }: NodeState, nowMs: number): boolean {
  return nowMs - atMs > silentAfterMs;
}
