import { readModelName } from '../../../upstreams/bedrock/model-names.ts';
import type { PlannedUpstream } from '../import-plan.ts';
import { type Fields, textOf } from '../read-fields.ts';

/** A deployment at a cloud: its upstream, the model that is sent, and the model behind it. */
export type CloudDeployment = { readonly upstream: PlannedUpstream; readonly model: string; readonly is?: string };

/** A deployment of LiteLLM, without the provider in front of its model. */
type Deployment = {
  readonly model: string;
  /** Reads a member of `litellm_params`; a variable of the environment as a reference. */
  readonly param: (...names: readonly string[]) => string | undefined;
  /** `model_info.base_model`, without the provider. */
  readonly baseModel: string | undefined;
};

type Cloud = {
  readonly plan: (deployment: Deployment) => CloudDeployment | string;
  /** Members of `litellm_params` that it reads. */
  readonly params: readonly string[];
};

const entraParams = ['tenant_id', 'client_id', 'client_secret'] as const;
const azureParams = ['api_version', 'base_model', ...entraParams];

/** A key, or the identity of an application or of the machine (docs.litellm.ai/docs/providers/azure). */
function azureCredential({ param }: Deployment): Pick<PlannedUpstream, 'apiKey' | 'credential'> {
  const apiKey = param('api_key');
  if (apiKey !== undefined) return { apiKey };
  const [tenantId, clientId, clientSecret] = entraParams.map((name) => param(name));
  if (tenantId === undefined || clientId === undefined || clientSecret === undefined) return { apiKey: '${AZURE_API_KEY}' };
  return { credential: { kind: 'azure', from: 'client-secret', tenantId, clientId, clientSecret } };
}

function planAzure(deployment: Deployment): CloudDeployment | string {
  const { model, param, baseModel } = deployment;
  const version = param('api_version');
  const apiVersion = version === undefined || /^(?:v1|latest)$/.test(version) ? undefined : version;
  return {
    model,
    ...(baseModel !== undefined && { is: baseModel }),
    upstream: {
      vendor: 'azure',
      baseUrl: param('api_base', 'base_url') ?? '${AZURE_API_BASE}',
      ...(apiVersion !== undefined && { apiVersion }),
      ...azureCredential(deployment),
    },
  };
}

function planFoundry(deployment: Deployment): CloudDeployment | string {
  const { model, param, baseModel = deployment.model } = deployment;
  const address = param('api_base', 'base_url');
  if (!baseModel.startsWith('claude'))
    return 'of azure_ai, only Claude is an upstream of its own: use azure, or openai-compatible with the address';
  if (address === undefined) return 'the address of the resource is not in the file';
  return { model, is: baseModel, upstream: { vendor: 'foundry', baseUrl: address, ...azureCredential(deployment) } };
}

/** Keys, a profile or a role; without them the usual places (docs.litellm.ai/docs/providers/bedrock). */
function awsCredential({ param }: Deployment): Pick<PlannedUpstream, 'apiKey' | 'credential'> {
  const apiKey = param('api_key');
  if (apiKey !== undefined) return { apiKey };
  const found = {
    accessKeyId: param('aws_access_key_id'),
    secretAccessKey: param('aws_secret_access_key'),
    sessionToken: param('aws_session_token'),
    profile: param('aws_profile_name'),
    roleArn: param('aws_role_name'),
    externalId: param('aws_external_id'),
  };
  const named = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return Object.keys(named).length === 0 ? {} : { credential: { kind: 'aws', ...named } };
}

/** Models of Bedrock that make embeddings, images, speech or rankings. */
const notOfChats = /embed|rerank|image|canvas|reel|sonic|stability\.|luma\.|twelvelabs\./;

function planBedrock(deployment: Deployment): CloudDeployment | string {
  const { param } = deployment;
  // A route of LiteLLM, and a region, may stand before the id of the model.
  const [, inPath, id = ''] = /^(?:(?:converse|invoke|converse_like)\/)?(?:([a-z]{2}(?:-[a-z]+)+-\d)\/)?(.+)$/.exec(deployment.model) ?? [];
  const { maker } = readModelName(id);
  if (!id.startsWith('arn:') && maker === undefined) return 'the name says no maker, so that its interface at AWS Bedrock is not known';
  if (notOfChats.test(id)) return 'of AWS Bedrock, Weir serves models of chats only';
  const address = param('aws_bedrock_runtime_endpoint', 'api_base');
  return {
    model: id,
    ...(deployment.baseModel !== undefined && { is: deployment.baseModel }),
    upstream: {
      vendor: 'bedrock',
      region: inPath ?? param('aws_region_name') ?? '${AWS_REGION}',
      ...(address !== undefined && { baseUrl: address }),
      ...awsCredential(deployment),
    },
  };
}

function planVertex({ model, param, baseModel }: Deployment): CloudDeployment | string {
  const credential = param('vertex_credentials');
  const isText = credential?.trimStart().startsWith('{') === true;
  const [project, location] = [param('vertex_project', 'vertex_ai_project'), param('vertex_location', 'vertex_ai_location')];
  if (project === undefined) return 'vertex_project is not in the file, and Weir needs it';
  return {
    model,
    ...(baseModel !== undefined && { is: baseModel }),
    upstream: {
      vendor: 'vertex',
      project,
      ...(location !== undefined && { location }),
      ...(credential !== undefined && { credential: { kind: 'google', ...(isText ? { json: credential } : { file: credential }) } }),
    },
  };
}

const azure: Cloud = { plan: planAzure, params: azureParams };
const vertex: Cloud = {
  plan: planVertex,
  params: ['vertex_project', 'vertex_ai_project', 'vertex_location', 'vertex_ai_location', 'vertex_credentials'],
};

/** The clouds by LiteLLM's names. */
const clouds: Readonly<Record<string, Cloud>> = {
  azure,
  azure_text: azure,
  azure_ai: { plan: planFoundry, params: azureParams },
  bedrock: {
    plan: planBedrock,
    params: [
      'aws_region_name',
      'aws_access_key_id',
      'aws_secret_access_key',
      'aws_session_token',
      'aws_profile_name',
      'aws_role_name',
      'aws_session_name',
      'aws_external_id',
      'aws_bedrock_runtime_endpoint',
    ],
  },
  vertex_ai: vertex,
  vertex_ai_beta: vertex,
};

export const isCloud = (provider: string): boolean => Object.hasOwn(clouds, provider);

/** Members of `litellm_params` that a cloud reads. */
export const paramsOfCloud = (provider: string): readonly string[] => clouds[provider]?.params ?? [];

/**
 * Plans the deployment of a cloud.
 * @param refer writes a reference of LiteLLM to a variable as one of Weir
 * @returns why there is none, as a text
 */
export function planCloud(
  provider: string,
  model: string,
  { params, info, refer }: { readonly params: Fields; readonly info: Fields; readonly refer: (value: unknown) => unknown },
): CloudDeployment | string {
  const param = (...names: readonly string[]): string | undefined =>
    names.map((name) => textOf(refer(params[name]))).find((value) => value !== undefined);
  const base = textOf(info['base_model']) ?? textOf(params['base_model']);
  return (
    clouds[provider]?.plan({ model, param, baseModel: base?.replace(/^[a-z_]+\//, '') }) ?? `Weir has no upstream of the kind ${provider}`
  );
}
