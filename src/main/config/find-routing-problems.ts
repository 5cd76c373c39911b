import type { Config, ConfiguredUpstream } from './config-schema.ts';
import { credentialsOf } from './credentials.ts';
import type { ConfiguredTarget } from './routing-schema.ts';

/** A problem, and its path within the configuration. */
export type RoutingProblem = { readonly path: readonly (string | number)[]; readonly message: string };

type ModelConfig = NonNullable<Config['models']>[string];

/** Checks the credentials of an upstream beyond the schema. The messages contain no credential. */
export function findCredentialProblems(name: string, { apiKey, apiKeys = [] }: ConfiguredUpstream): readonly RoutingProblem[] {
  const path = ['upstreams', name, 'apiKeys'];
  const found: RoutingProblem[] = [];
  if (apiKey !== undefined && apiKeys.length > 0)
    found.push({ path, message: 'cannot be used together with apiKey; list all credentials in apiKeys' });
  for (const [index, key] of apiKeys.entries()) {
    const first = apiKeys.indexOf(key);
    if (first < index) found.push({ path: [...path, index], message: `must not repeat the credential of apiKeys.${first}` });
  }
  return found;
}

/** Checks the targets of a model beyond the schema. Unknown upstreams are found elsewhere. */
export function findRoutingProblems(name: string, model: ModelConfig, upstreams: Config['upstreams']): readonly RoutingProblem[] {
  const path = ['models', name];
  const found: RoutingProblem[] = [];
  for (const [index, target] of model.targets.entries()) {
    for (const { path: within, message } of findTargetProblems(name, model.targets, target, index)) {
      found.push({ path: [...path, 'targets', index, ...within], message });
    }
  }
  if (model.balance !== undefined && !hasShared(model.targets, upstreams)) {
    const message = 'there is nothing to balance: give two targets the same priority, or give an upstream several apiKeys';
    found.push({ path: [...path, 'balance'], message });
  }
  return found;
}

function priorityOf(target: ConfiguredTarget, index: number): number {
  return target.priority ?? index + 1;
}

function findTargetProblems(
  name: string,
  targets: readonly ConfiguredTarget[],
  target: ConfiguredTarget,
  index: number,
): readonly RoutingProblem[] {
  const found: RoutingProblem[] = [];
  const priority = priorityOf(target, index);
  const others = targets.map((other, at) => ({ other, at })).filter(({ at }) => at !== index);
  const peers = others.filter(({ other, at }) => priorityOf(other, at) === priority);
  const [explicit] = peers.filter(({ other }) => other.priority !== undefined);
  if (target.priority === undefined && explicit !== undefined) {
    const message = `its position in the list gives it priority ${priority}, which targets.${explicit.at} has too; set another priority, or set ${priority} if they must share the calls`;
    found.push({ path: [], message });
  }
  if (target.weight !== undefined && peers.length === 0) {
    const message = `needs another target of the same priority, and this is the only one at priority ${priority}; set the priority of a target to share calls with, or omit weight`;
    found.push({ path: ['weight'], message });
  }
  const twin = others.find(({ other, at }) => at < index && isSame(name, target, other));
  if (twin !== undefined) {
    const message = `must differ from targets.${twin.at}, because a retry would go to the same place; omit one, or set weight for a larger share of the calls`;
    found.push({ path: [], message });
  }
  const { inputTokensMin, inputTokensMax } = target.when ?? {};
  if (inputTokensMin !== undefined && inputTokensMax !== undefined && inputTokensMin > inputTokensMax) {
    found.push({
      path: ['when', 'inputTokensMin'],
      message: `must be at most inputTokensMax, which is ${inputTokensMax}, but got ${inputTokensMin}`,
    });
  }
  return found;
}

function isSame(name: string, first: ConfiguredTarget, second: ConfiguredTarget): boolean {
  const isOnePlace = first.upstream === second.upstream && (first.model ?? name) === (second.model ?? name);
  return isOnePlace && wordConditions(first) === wordConditions(second);
}

/** Conditions as a text that does not depend on their order. */
function wordConditions({ when = {} }: ConfiguredTarget): string {
  return JSON.stringify(Object.entries(when).toSorted(([first], [second]) => first.localeCompare(second)));
}

function hasShared(targets: readonly ConfiguredTarget[], upstreams: Config['upstreams']): boolean {
  const priorities = new Set(targets.map(priorityOf));
  if (priorities.size < targets.length) return true;
  return targets.some(({ upstream }) => {
    const configured = upstreams?.[upstream];
    return configured !== undefined && credentialsOf(configured).length > 1;
  });
}
