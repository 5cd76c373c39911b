import type { ConfigPlan } from './plan-config.ts';

/**
 * Ranks the targets of each model from 1, without gaps, and omits weights of targets that share their rank with no
 * other: weir.yaml refuses those, because they change nothing.
 */
export function tidyTargets(plan: ConfigPlan): void {
  for (const name of plan.modelNames()) {
    const targets = plan.targetsOf(name);
    const ranks = [...new Set(targets.map(({ priority = 1 }) => priority))].toSorted((a, b) => a - b);
    const tidy = targets.map(({ weight, ...target }) => {
      const isShared = targets.filter(({ priority = 1 }) => priority === (target.priority ?? 1)).length > 1;
      return { ...target, priority: ranks.indexOf(target.priority ?? 1) + 1, ...(isShared && weight !== undefined && { weight }) };
    });
    plan.setTargets(name, tidy);
  }
}
