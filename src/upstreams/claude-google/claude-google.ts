import type { AccountFacts } from '../account-facts.ts';
import { anthropicInterface } from '../anthropic-interface.ts';
import { authorizeWithBearer } from '../authorize-with-bearer.ts';
import { decodeGoogleError, googleErrorOf } from '../google-errors.ts';
import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import type { OperatorRefusal, UpstreamVendor } from '../upstream-vendor.ts';

/** The path of a workspace, below which Anthropic's own paths are. Earlier it began with `/v1alpha`. */
const workspacePath = /\/v1(?:alpha)?\/projects\/[^/]+\/locations\/[^/]+\/workspaces\/[^/]+\/invoke(?:\/v1)?$/;

function placeWorkspace(pathname: string, { project, workspace }: AccountFacts): string {
  const root = pathname.replace(/\/+$/, '').replace(workspacePath, '');
  return `${root}/v1/projects/${project}/locations/global/workspaces/${workspace}/invoke`;
}

function checkFacts({ project, workspace }: AccountFacts): string | undefined {
  if (project === undefined) return 'project is required for claude-google, for example project: acme';
  return workspace === undefined ? 'workspace is required for claude-google: the id of a workspace, such as wrkspc_…' : undefined;
}

function advise({ status, message }: OperatorRefusal, { project, workspace }: AccountFacts): string | undefined {
  if (status === 403 && /has not been used|disabled/i.test(message))
    return `gcloud services enable claude.googleapis.com --project ${project}`;
  if (status === 403) return `the identity has no right to call models: give it a role of claude.googleapis.com in the project ${project}`;
  if (status === 404) return `project ${project} has no workspace ${workspace}: copy its id from the console`;
  return undefined;
}

/**
 * Claude on Google Cloud, managed by Anthropic: Anthropic's own interface below the path of a workspace, with a token
 * of Google. Google bills it, at Anthropic's prices. Sources: platform.claude.com, "Claude Models on Google Cloud
 * (Anthropic managed)"; Anthropic's google-cloud-sdk 1.1.4.
 */
export const claudeGoogle: UpstreamVendor = {
  ...anthropicInterface,
  id: 'claude-google',
  title: 'Claude Platform on Google Cloud',
  addressOf: () => 'https://claude.googleapis.com',
  basePathOf: placeWorkspace,
  facts: ['project', 'workspace'],
  checkFacts,
  credentialKinds: ['google'],
  usualCredential: { kind: 'google' },
  keyVariables: [],
  offers: ['threads'],
  authorize: authorizeWithBearer,
  readRefusal: ({ status, body }) => {
    const parsed = parseIfJson(body);
    return googleErrorOf(parsed) === undefined ? undefined : decodeGoogleError(status, parsed);
  },
  adviseOperator: advise,
  takesIdempotencyKeys: true,
  modelKinds: [{ names: /^claude/, kinds: ['chat'] }],
  proofsBelongTo: 'vendor',
  makers: ['anthropic'],
  modelBehind: (model) => model,
  keysUrl: 'https://console.cloud.google.com/vertex-ai',
};
