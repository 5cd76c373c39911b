import type { LimitOwner, LimitUse } from '../../../control/nodes/limit-use.ts';
import type { LimitOwner as CountedOwner } from '../../../gateway/admission/limits/limiter.ts';
import type { Gateway } from '../../../gateway/endpoints/gateway.ts';

/** What this gateway counts against the limits of owners, and the limits of its configuration. */
export async function countLimitUse(
  { limiter, settings }: Pick<Gateway, 'limiter' | 'settings'>,
  owners: readonly LimitOwner[],
): Promise<readonly LimitUse[]> {
  const { routing, perKey } = settings();
  const counted = owners.map(({ scope, id }): CountedOwner & Pick<LimitUse, 'limits'> => {
    if (scope === 'key') return { scope, id, ...(perKey !== undefined && { limits: perKey }) };
    // Names of a pattern share the limits of the pattern.
    const model = scope === 'model' ? routing.routeOf(id)?.targets.find((target) => target.model !== undefined)?.model : undefined;
    return { scope, id: model?.name ?? id, ...(model !== undefined && { limits: model.limits }) };
  });
  const uses = await limiter.use(counted.map(({ scope, id }) => ({ scope, id })));
  return owners.flatMap((owner, index) => {
    const use = uses[index];
    const limits = counted[index]?.limits;
    return use === undefined ? [] : [{ ...owner, ...(limits !== undefined && { limits }), ...use }];
  });
}
