import type { Config, ConfiguredUpstream } from './config-schema.ts';
import { credentialsOf } from './credentials.ts';
import type { ConfiguredTarget } from './routing-schema.ts';

/** Something wrong, and the path to it within the configuration. */
export type RoutingProblem = { readonly path: readonly (string | number)[]; readonly message: string };

type ModelConfig = NonNullable<Config['models']>[string];

/** What the schema cannot say of an upstream's credentials. Names none of them. */
export function findCredentialProblems(name: string, { apiKey, apiKeys = [] }: ConfiguredUpstream): readonly RoutingProblem[] {
  const path = ['upstreams', name, 'apiKeys'];
  const found: RoutingProblem[] = [];
  if (apiKey !== undefined && apiKeys.length > 0) found.push({ path, message: 'apiKey is set as well; list all credentials in apiKeys' });
  for (const [index, key] of apiKeys.entries()) {
    const first = apiKeys.indexOf(key);
    if (first < index) found.push({ path: [...path, index], message: `this is the same credential as apiKeys.${first}; list each once` });
  }
  return found;
}

/** What the schema cannot say of where a model goes. Targets that name no upstream are found elsewhere. */
export function findRoutingProblems(name: string, model: ModelConfig, upstreams: Config['upstreams']): readonly RoutingProblem[] {
  const path = ['models', name];
  const found: RoutingProblem[] = [];
  for (const [index, target] of model.targets.entries()) {
    for (const { path: within, message } of findTargetProblems(name, model.targets, target, index)) {
      found.push({ path: [...path, 'targets', index, ...within], message });
    }
  }
  if (model.balance !== undefined && !hasShared(model.targets, upstreams)) {
    const message = 'there is nothing to balance: give two targets the same priority, or an upstream several apiKeys';
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
    const message = `its place in the list makes its priority ${priority}, which is that of targets.${explicit.at} too; give it a priority of its own, or the same one if they are to share the calls`;
    found.push({ path: [], message });
  }
  if (target.weight !== undefined && peers.length === 0) {
    const message = `weight shares the calls among targets of one priority, and this target is alone at priority ${priority}; give it the same priority as the targets it shares with, or leave weight out`;
    found.push({ path: ['weight'], message });
  }
  const twin = others.find(({ other, at }) => at < index && isSame(name, target, other));
  if (twin !== undefined) {
    const message = `this is the same as targets.${twin.at}, so that a call could be tried twice at the same place; leave one out, or set a weight for a larger part of the calls`;
    found.push({ path: [], message });
  }
  const { inputTokensMin, inputTokensMax } = target.when ?? {};
  if (inputTokensMin !== undefined && inputTokensMax !== undefined && inputTokensMin > inputTokensMax) {
    found.push({
      path: ['when', 'inputTokensMin'],
      message: `no call has at least ${inputTokensMin} and at most ${inputTokensMax} input tokens`,
    });
  }
  return found;
}

function isSame(name: string, first: ConfiguredTarget, second: ConfiguredTarget): boolean {
  const isOnePlace = first.upstream === second.upstream && (first.model ?? name) === (second.model ?? name);
  return isOnePlace && wordConditions(first) === wordConditions(second);
}

/** Conditions as a text that does not depend on the order in which they are written. */
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
