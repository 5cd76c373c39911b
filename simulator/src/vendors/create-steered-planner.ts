import { createPlanner } from '../plan-reply.ts';
import type { PromptCache } from '../prompt-cache.ts';
import type { PlanReply } from '../simulated-vendor.ts';
import { readSteering } from '../steering.ts';

/**
 * A planner for tests of one vendor: fixed seed and time, controlled by headers named without their prefix. Its plans
 * are stored in the cache at once.
 */
export function createSteeredPlanner(steering: Readonly<Record<string, string>> = {}, cache?: PromptCache): PlanReply {
  return createPlanner({
    seed: 'seed',
    nowMs: 1_785_963_542_000,
    steering: readSteering(Object.fromEntries(Object.entries(steering).map(([name, value]) => [`x-simulator-${name}`, value]))),
    ...(cache && { cache }),
    onPlan: (_plan, _steering, keep) => keep(),
  });
}
