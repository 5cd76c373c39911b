import { parse } from 'yaml';

import { rateLimitsMax } from '../../../accounts/access-limits.ts';
import { modelKindNames } from '../../../inference/interfaces.ts';
import { shiftDecimal } from '../decimals.ts';
import { ImportError, type PlannedModel, type PlannedUpstream } from '../import-plan.ts';
import type { ConfigPlan } from '../plan-config.ts';
import { type Fields, fieldsOf, limitOf, listOf, numberOf, requireFields, textOf, textsOf } from '../read-fields.ts';
import { planService } from '../services.ts';
import { type CloudDeployment, isCloud, paramsOfCloud, planCloud } from './plan-cloud.ts';
import { splitModel } from './providers.ts';
import { readFallbacks } from './read-fallbacks.ts';

/**
 * Reads the configuration file of a LiteLLM proxy (docs.litellm.ai/docs/proxy/config_settings).
 * @returns the time limit of a call, in milliseconds, if the file has one
 * @throws ImportError if the text is another file
 */
export function readLiteLlmConfig(text: string, plan: ConfigPlan): { readonly totalMs?: number } {
  const file = requireFields(parseYaml(text), 'the file');
  const deployments = listOf(file['model_list']);
  if (deployments.length === 0) throw new ImportError('the file has no model_list: is it the config.yaml of a LiteLLM proxy?');
  const credentials = new Map(
    listOf(file['credential_list']).map((entry) => [entry['credential_name'], fieldsOf(entry['credential_values'])]),
  );
  deployments.forEach((deployment, index) => {
    readDeployment(deployment, `model_list[${index}]`, credentials, plan);
  });
  const [router, settings] = [fieldsOf(file['router_settings']), fieldsOf(file['litellm_settings'])];
  readFallbacks(router, settings, plan);
  readAliases(router['model_group_alias'], plan);
  noteRest(file, router, settings, plan);
  const seconds = numberOf(router['timeout']) ?? numberOf(settings['request_timeout']);
  return seconds === undefined || seconds < 0.01 ? {} : { totalMs: Math.min(Math.round(seconds * 1000), dayMs) };
}

const dayMs = 86_400_000;

function parseYaml(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw new ImportError(`the file is not valid YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Members of `litellm_params` that are read here, or that change nothing in Weir. */
const knownParams = new Set([
  'model',
  'api_key',
  'api_base',
  'base_url',
  'custom_llm_provider',
  'litellm_credential_name',
  'weight',
  'order',
  'rpm',
  'tpm',
  'timeout',
  'stream_timeout',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'max_retries',
  'num_retries',
  'use_in_pass_through',
  'merge_reasoning_content_in_choices',
]);

function readDeployment(deployment: Fields, at: string, credentials: ReadonlyMap<unknown, Fields>, plan: ConfigPlan): void {
  const name = textOf(deployment['model_name']);
  const own = fieldsOf(deployment['litellm_params']);
  const params: Fields = { ...credentials.get(own['litellm_credential_name']), ...own };
  const written = textOf(params['model']);
  if (name === undefined || written === undefined) {
    plan.leftOut(at, 'it has no model_name or no litellm_params.model');
    return;
  }
  const what = `${at} ${name}`;
  if (/\*./.test(name)) {
    plan.leftOut(what, 'a name with * before its end; Weir takes * at the end only');
    return;
  }
  const { provider, service, model: asked } = splitModel(written, textOf(params['custom_llm_provider']));
  const info = fieldsOf(deployment['model_info']);
  const planned = isCloud(provider)
    ? planCloud(provider, asked, { params, info, refer })
    : planDeployment(provider, service, asked, params);
  if (typeof planned === 'string') {
    plan.leftOut(what, planned);
    return;
  }
  const { upstream, model, is } = planned;
  const order = limitOf(params['order'], 1000);
  const weight = limitOf(params['weight'], 1000);
  plan.addTarget(name, {
    upstream: plan.addUpstream(provider, upstream),
    ...(model !== '*' && model !== name && { model: model.replace(/\*$/, '') }),
    ...(is !== undefined && { is }),
    priority: order ?? 1,
    ...(weight !== undefined && { weight }),
    ...readTimeouts(params),
  });
  if (model.endsWith('*') && model !== '*') plan.changed(what, `${written} sends the part of the name for *; check the target`);
  readModelInfo(name, params, info, plan);
  const ofCloud = paramsOfCloud(provider);
  const unread = Object.keys(params).filter((member) => !knownParams.has(member) && !ofCloud.includes(member));
  if (unread.length > 0) plan.leftOut(what, `litellm_params ${unread.join(', ')}`);
}

function planDeployment(provider: string, service: string | undefined, model: string, params: Fields): CloudDeployment | string {
  const upstream = service === undefined ? `Weir has no upstream of the kind ${provider}` : planUpstream(service, params);
  return typeof upstream === 'string' ? upstream : { upstream, model };
}

function planUpstream(service: string, params: Fields): PlannedUpstream | string {
  const planned = planService(service, textOf(refer(params['api_base'] ?? params['base_url'])));
  const apiKey = textOf(refer(params['api_key']));
  if (typeof planned === 'string') return planned;
  return apiKey === undefined ? { ...planned, ...usualKey(planned) } : { ...planned, apiKey };
}

/** LiteLLM reads the usual variable of a vendor if a deployment names no key. */
function usualKey({ vendor, preset }: PlannedUpstream): Pick<PlannedUpstream, 'apiKey'> {
  const named = vendor === 'openai-compatible' ? (preset ?? '') : vendor;
  return /^(?:|vllm|ollama|lm-studio)$/.test(named) ? {} : { apiKey: `\${${named.toUpperCase().replaceAll('-', '_')}_API_KEY}` };
}

/** `os.environ/NAME` is a variable; everything else is meant as it is written. */
function refer(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [, name] = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(value) ?? [];
  return name === undefined ? value.replaceAll('${', () => '$${') : `\${${name}}`;
}

function readTimeouts(params: Fields): { readonly timeouts?: { readonly totalMs?: number; readonly firstByteMs?: number } } {
  const [total, first] = [numberOf(params['timeout']), numberOf(params['stream_timeout'])];
  const timeouts = {
    ...(total !== undefined && total >= 0.01 && { totalMs: Math.min(Math.round(total * 1000), dayMs) }),
    ...(first !== undefined && first >= 0.01 && { firstByteMs: Math.min(Math.round(first * 1000), dayMs) }),
  };
  return Object.keys(timeouts).length === 0 ? {} : { timeouts };
}

/** Modes whose names differ from those of kinds in Weir. */
const kinds: Readonly<Record<string, PlannedModel['kind']>> = {
  responses: 'chat',
  embedding: 'embeddings',
  image_generation: 'image',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  video_generation: 'video',
};

/** Prices, the kind of the model, and its limits: in Weir the deployments of one name share them. */
function readModelInfo(name: string, params: Fields, info: Fields, plan: ConfigPlan): void {
  const price = (member: string): string | undefined => {
    const perToken = numberOf(params[member]) ?? numberOf(info[member]);
    return perToken === undefined || perToken < 0 ? undefined : shiftDecimal(perToken, 6);
  };
  const [input, output] = [price('input_cost_per_token'), price('output_cost_per_token')];
  const [cacheRead, cacheWrite5m] = [price('cache_read_input_token_cost'), price('cache_creation_input_token_cost')];
  const mode = textOf(info['mode']) ?? '';
  const kind = kinds[mode] ?? modelKindNames.find((known) => known === mode);
  plan.setModel(name, {
    ...(kind !== undefined && { kind }),
    ...(input !== undefined &&
      output !== undefined && {
        price: { input, output, ...(cacheRead !== undefined && { cacheRead }), ...(cacheWrite5m !== undefined && { cacheWrite5m }) },
      }),
  });
  const [rpm, tpm] = [limitOf(params['rpm'], rateLimitsMax.requestsPerMinute), limitOf(params['tpm'], rateLimitsMax.tokensPerMinute)];
  if (rpm !== undefined || tpm !== undefined)
    plan.leftOut(
      `${name}: rpm or tpm of a deployment`,
      'limits of Weir are those of a model, a key, a user or a team; set models.<name>.limits',
    );
}

function readAliases(aliases: unknown, plan: ConfigPlan): void {
  for (const [alias, target] of Object.entries(fieldsOf(aliases))) {
    const name = textOf(target) ?? textOf(fieldsOf(target)['model']);
    if (name === undefined || !plan.has(name)) plan.leftOut(`model_group_alias ${alias}`, `there is no model ${name ?? ''}`.trimEnd());
    else for (const each of plan.targetsOf(name)) plan.addTarget(alias, { ...each, model: each.model ?? name });
  }
}

const readSettings: Readonly<Record<string, readonly string[]>> = {
  router_settings: ['model_group_alias', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks', 'timeout'],
  litellm_settings: ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks', 'default_fallbacks', 'request_timeout'],
};

/** What Weir does in another way, by the setting's name. */
const answers: Readonly<Record<string, string>> = {
  routing_strategy: 'targets of one priority share the calls; models.<name>.balance chooses how',
  num_retries: 'Weir makes up to three attempts until one has delivered something',
  drop_params: 'translated calls leave out what an upstream cannot take, and say so; --strict keys refuse instead',
  master_key: 'the console has people with roles: weir people create',
  database_url: 'set WEIR_DATABASE_URL or database.url',
  success_callback: 'see the guides about observing calls and recording content',
  callbacks: 'see the guides about observing calls and recording content',
  alerting: 'see the guide about alerts',
  cache: 'replies are not cached, prompts are by the vendors',
  max_budget: 'weir organization update --spend-per-month',
};

function noteRest(file: Fields, router: Fields, settings: Fields, plan: ConfigPlan): void {
  const sections = { router_settings: router, litellm_settings: settings, general_settings: fieldsOf(file['general_settings']) };
  for (const [section, members] of Object.entries(sections))
    for (const member of Object.keys(members))
      if (readSettings[section]?.includes(member) !== true)
        plan.leftOut(`${section}.${member}`, answers[member] ?? 'Weir has no such setting');
  const read = ['model_list', 'credential_list', ...Object.keys(sections)];
  for (const section of Object.keys(file)) {
    if (read.includes(section)) continue;
    const paths = section === 'include' ? `: ${textsOf(file[section]).join(', ')}; join the files first` : '';
    plan.leftOut(section, `this section is not read${paths}`);
  }
}
