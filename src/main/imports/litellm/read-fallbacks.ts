import type { ConfigPlan } from '../plan-config.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from '../read-fields.ts';

/** Fallbacks become targets of a lower rank. Those for one kind of error are left out. */
export function readFallbacks(router: Fields, settings: Fields, plan: ConfigPlan): void {
  const own = new Map(plan.modelNames().map((name) => [name, plan.targetsOf(name)]));
  const add = (what: string, name: string, fallback: string): void => {
    const targets = own.get(fallback);
    if (targets === undefined || !plan.has(name)) {
      plan.leftOut(`${what} ${name}`, `there is no model ${targets === undefined ? fallback : name}`);
      return;
    }
    const last = Math.max(0, ...plan.targetsOf(name).map(({ priority = 1 }) => priority));
    for (const target of targets)
      plan.addTarget(name, { ...target, model: target.model ?? fallback, priority: last + (target.priority ?? 1) });
  };
  for (const entry of [...listOf(router['fallbacks']), ...listOf(settings['fallbacks'])])
    for (const [name, list] of Object.entries(entry)) for (const fallback of namesOf(list)) add('fallbacks', name, fallback);
  for (const fallback of textsOf(settings['default_fallbacks']))
    for (const name of own.keys()) if (name !== fallback) add('default_fallbacks', name, fallback);
  for (const member of ['context_window_fallbacks', 'content_policy_fallbacks'])
    if (listOf(router[member]).length + listOf(settings[member]).length > 0)
      plan.leftOut(member, 'fallbacks for one kind of error; models.<name>.targets[].when chooses by the size of the input');
}

/** A fallback is a name, or an object with the name and parameters. */
const namesOf = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.flatMap((entry: unknown) => textOf(entry) ?? textOf(fieldsOf(entry)['model']) ?? []) : [];
