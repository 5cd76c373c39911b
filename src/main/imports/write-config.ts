import { stringify } from 'yaml';

import type { ImportPlan } from './import-plan.ts';

/** The parts of weir.yaml of a plan, without those that are empty. */
export function writeConfig({ upstreams = {}, models = {}, timeouts }: ImportPlan['config']): string {
  const parts = {
    ...(Object.keys(upstreams).length > 0 && { upstreams }),
    ...(Object.keys(models).length > 0 && { models }),
    ...(timeouts !== undefined && { timeouts }),
  };
  return Object.keys(parts).length === 0 ? '' : stringify(parts, { lineWidth: 120, aliasDuplicateObjects: false });
}
