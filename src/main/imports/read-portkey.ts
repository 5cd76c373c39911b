import { ImportError, type PlannedUpstream } from './import-plan.ts';
import type { ConfigPlan } from './plan-config.ts';
import { type Fields, fieldsOf, isFields, limitOf, listOf, numberOf, textOf } from './read-fields.ts';
import { planService } from './services.ts';

/** Names of Portkey's providers, and the service that each is (its gateway's list of providers). */
const providers: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'gemini',
  'x-ai': 'xai',
  openrouter: 'openrouter',
  deepseek: 'deepseek',
  groq: 'groq',
  'mistral-ai': 'mistral',
  'perplexity-ai': 'perplexity',
  'together-ai': 'together',
  'fireworks-ai': 'fireworks',
  cohere: 'cohere',
  jina: 'jina',
  voyage: 'voyage',
  ollama: 'ollama',
  cerebras: 'cerebras',
  sambanova: 'sambanova',
  moonshot: 'moonshot-international',
  dashscope: 'dashscope-international',
  zhipu: 'zhipu',
  siliconflow: 'siliconflow',
  lingyi: 'lingyiwanwu',
  'novita-ai': 'novita',
};

/**
 * Reads a Portkey config, which says where the calls that name it go. It becomes one model.
 * @param name the name of that model
 * @throws ImportError if the text is something else
 */
export function readPortkey(text: string, name: string, plan: ConfigPlan): void {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw new ImportError(`the file is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isFields(config)) throw new ImportError('a Portkey config is a JSON object');
  if (config['targets'] === undefined && config['provider'] === undefined && memberOf(config, 'virtual_key') === undefined)
    throw new ImportError('the file has neither targets nor a provider: is it a Portkey config?');
  readNode(config, { name, at: 'config', priority: 1, weight: undefined }, plan);
  if (plan.targetsOf(name).length === 0) throw new ImportError('no target of the config can be an upstream of Weir');
}

/** Configs are written with underscores or in camel case. */
const memberOf = (node: Fields, member: string): unknown =>
  node[member] ?? node[member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];

type Place = { readonly name: string; readonly at: string; readonly priority: number; readonly weight: number | undefined };

/** A config is a target, or a strategy over targets, which may be such configs again. Returns the next free rank. */
function readNode(node: Fields, place: Place, plan: ConfigPlan): number {
  const unread = unreadMembers.filter((member) => memberOf(node, member) !== undefined);
  if (unread.length > 0) plan.leftOut(place.at, unread.join(', '));
  const targets = listOf(node['targets']);
  if (targets.length === 0) {
    readTarget(node, place, plan);
    return place.priority + 1;
  }
  const mode = textOf(fieldsOf(node['strategy'])['mode']) ?? 'single';
  if (mode === 'conditional') {
    plan.leftOut(place.at, 'a conditional strategy; models.<name>.targets[].when has the conditions of Weir');
    return place.priority;
  }
  let next = place.priority;
  targets.forEach((target, index) => {
    const weight = limitOf(Math.round((numberOf(memberOf(target, 'weight')) ?? 1) * 100), 1000);
    const inner = { ...place, at: `${place.at}.targets[${index}]` };
    if (mode === 'loadbalance') next = Math.max(next, readNode(target, { ...inner, weight }, plan));
    else if (mode === 'fallback' || index === 0) next = readNode(target, { ...inner, priority: next }, plan);
    else plan.leftOut(inner.at, 'a strategy of the mode single uses the first target only');
  });
  return next;
}

const unreadMembers = [
  'cache',
  'retry',
  'input_guardrails',
  'output_guardrails',
  'before_request_hooks',
  'after_request_hooks',
  'forward_headers',
];

function readTarget(node: Fields, { name, at, priority, weight }: Place, plan: ConfigPlan): void {
  const provider = textOf(node['provider'])?.replace(/^@/, '');
  const virtualKey = textOf(memberOf(node, 'virtual_key'));
  if (provider === undefined) {
    plan.leftOut(at, virtualKey === undefined ? 'it names no provider' : `only Portkey knows the provider and key of ${virtualKey}`);
    return;
  }
  const service = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const planned = service === undefined ? `Weir has no upstream of the kind ${provider}` : planService(service, addressOf(node, service));
  if (typeof planned === 'string') {
    plan.leftOut(at, planned);
    return;
  }
  const overrides = fieldsOf(memberOf(node, 'override_params'));
  const model = textOf(overrides['model']);
  const totalMs = numberOf(memberOf(node, 'request_timeout'));
  plan.addTarget(name, {
    upstream: plan.addUpstream(provider, withKey(planned, provider, node)),
    ...(model !== undefined && { model }),
    priority,
    ...(weight !== undefined && { weight }),
    ...(totalMs !== undefined && totalMs >= 10 && { timeouts: { totalMs: Math.min(Math.round(totalMs), 86_400_000) } }),
  });
  const others = Object.keys(overrides).filter((member) => member !== 'model');
  if (others.length > 0) plan.leftOut(at, `override_params ${others.join(', ')}`);
}

function addressOf(node: Fields, service: string): string | undefined {
  const written = textOf(memberOf(node, 'custom_host'));
  return written ?? (service === 'ollama' ? 'http://127.0.0.1:11434' : undefined);
}

/** A key that Portkey keeps is not in the config: the environment must have it. */
function withKey(planned: PlannedUpstream, provider: string, node: Fields): PlannedUpstream {
  const apiKey = textOf(memberOf(node, 'api_key'))?.replaceAll('${', () => '$${');
  return { ...planned, apiKey: apiKey ?? `\${${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY}` };
}
