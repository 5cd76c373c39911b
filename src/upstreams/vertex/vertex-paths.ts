import type { DialectId } from '../../dialects/dialect-id.ts';
import type { AccountFacts } from '../account-facts.ts';
import type { UpstreamRoute } from '../upstream-route.ts';

const multiRegions = new Set(['us', 'eu']);

/**
 * The address of a location. Sources: Anthropic's vertex-sdk 1.1.3, client.mjs, and Google's genai SDK 2.32.0 (both
 * agree).
 */
export function addressOfLocation({ location = 'global' }: AccountFacts): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (multiRegions.has(location)) return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/** The dialects of a model: Claude speaks Messages, Gemini generate-content, and `publisher/name` chat completions. */
export function dialectsAtVertex(model: string, { project }: AccountFacts): readonly DialectId[] {
  // Express mode has no project and serves Gemini alone.
  if (project === undefined) return ['gemini-generate-content'];
  if (model.startsWith('claude')) return ['anthropic-messages'];
  return /^[a-z0-9-]+\/[^/]+$/.test(model) && !model.startsWith('google/') ? ['openai-chat'] : ['gemini-generate-content'];
}

/** The path of a chat. Undefined without a project, except for Gemini, which express mode serves. */
export function locateAtVertex(route: UpstreamRoute, { project, location = 'global' }: AccountFacts): string | undefined {
  const place = project === undefined ? undefined : `/projects/${project}/locations/${location}`;
  if (route.dialect === 'gemini-generate-content') return `/v1beta1${place ?? ''}${geminiMethod(route)}`;
  if (place === undefined) return undefined;
  if (route.dialect === 'anthropic-messages') return `/v1${place}/publishers/anthropic/models/${claudeMethod(route)}`;
  if (route.dialect === 'openai-chat' && route.operation === 'generate') return `/v1beta1${place}/endpoints/openapi/chat/completions`;
  return undefined;
}

function claudeMethod({ operation, upstreamModel, framing }: UpstreamRoute): string {
  if (operation === 'count-tokens') return 'count-tokens:rawPredict';
  // Anthropic's SDK leaves the sign in front of the date as it is.
  const model = encodeURIComponent(upstreamModel).replace('%40', '@');
  return `${model}:${framing === undefined ? 'rawPredict' : 'streamRawPredict'}`;
}

/**
 * The path of a service: the method of a model, below the project if there is one.
 * @param path a method such as `:predict`, or a path that has no model
 */
export function placeAtVertex(path: string, upstreamModel: string, { project, location = 'global' }: AccountFacts): string {
  if (!path.startsWith(':')) return path;
  const place = project === undefined ? '' : `/projects/${project}/locations/${location}`;
  return `/v1beta1${place}${modelPath(upstreamModel)}${path}`;
}

/** A number is the endpoint of a tuned model; `publisher/name` is a model of another publisher. */
function modelPath(upstreamModel: string): string {
  const [, publisher = 'google', name = upstreamModel] = /^([^/]+)\/([^/]+)$/.exec(upstreamModel) ?? [];
  const model = encodeURIComponent(name);
  return /^\d+$/.test(name) ? `/endpoints/${model}` : `/publishers/${encodeURIComponent(publisher)}/models/${model}`;
}

function geminiMethod({ operation, upstreamModel, framing }: UpstreamRoute): string {
  const base = modelPath(upstreamModel);
  if (operation === 'count-tokens') return `${base}:countTokens`;
  if (framing === undefined) return `${base}:generateContent`;
  return framing === 'sse' ? `${base}:streamGenerateContent?alt=sse` : `${base}:streamGenerateContent`;
}

/** The address of an object in Cloud Storage. Source: "Download objects" of its JSON API. */
export function addressOfObject(uri: string, { videoBucket }: AccountFacts): string | undefined {
  const [, bucket, name] = /^gs:\/\/([a-z0-9][a-z0-9._-]+)\/(.+)$/.exec(uri) ?? [];
  if (bucket === undefined || name === undefined) return undefined;
  const { endpoint = 'https://storage.googleapis.com' } = videoBucket ?? {};
  return `${endpoint.replace(/\/+$/, '')}/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}?alt=media`;
}
