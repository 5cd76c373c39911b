import { type AccountFacts, isDated } from '../account-facts.ts';
import { locateOpenaiInterface } from '../openai-interfaces.ts';
import type { UpstreamRoute } from '../upstream-route.ts';

/**
 * The path of the base address. Operators write the endpoint as the portal shows it, or with the path that an SDK
 * wants.
 */
export const basePathAtAzure = (pathname: string, facts: AccountFacts): string =>
  pathname.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '') + (isDated(facts) ? '/openai' : '/openai/v1');

/** The paths that have the deployment in them under dated versions (OpenAI's Node SDK, azure.ts). */
const deployed: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/embeddings',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/images/generations',
  '/images/edits',
]);

/**
 * The path of a service below the base address.
 * @param path the path at OpenAI, below `/v1`
 * @param deployment the name of the deployment
 */
export function placeAtAzure(path: string, deployment: string, facts: AccountFacts): string {
  const { apiVersion } = facts;
  const version = apiVersion === undefined ? '' : `?api-version=${encodeURIComponent(apiVersion)}`;
  const within = isDated(facts) && deployed.has(path) ? `/deployments/${encodeURIComponent(deployment)}` : '';
  return `${within}${path}${version}`;
}

const responsesPaths = { generate: '/responses', compact: '/responses/compact', 'count-tokens': '/responses/input_tokens' } as const;

/** The path of a route of chats below the base address. */
export function locateAtAzure(route: UpstreamRoute, facts: AccountFacts): string | undefined {
  const path = route.dialect === 'openai-responses' ? responsesPaths[route.operation] : locateOpenaiInterface(route);
  return path === undefined ? undefined : placeAtAzure(path, route.upstreamModel, facts);
}
