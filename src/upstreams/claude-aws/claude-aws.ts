import type { AccountFacts } from '../account-facts.ts';
import { anthropicInterface } from '../anthropic-interface.ts';
import { authorizeWithAws } from '../authorize-with-aws.ts';
import { readAwsRefusal, refusesAwsCredential } from '../read-aws-refusal.ts';
import type { OperatorRefusal, UpstreamVendor } from '../upstream-vendor.ts';

const service = 'aws-external-anthropic';

function checkFacts({ region, workspace }: AccountFacts, baseUrl: string | undefined): string | undefined {
  if (region === undefined) return 'region is required for claude-aws, for example region: us-west-2';
  if (workspace === undefined) return 'workspace is required for claude-aws: the id of a workspace of this region, such as wrkspc_…';
  const named = baseUrl === undefined ? undefined : /\/\/aws-external-anthropic\.([a-z0-9-]+)\./.exec(baseUrl)?.[1];
  return named === undefined || named === region ? undefined : `baseUrl is an address of the region ${named}, and region is ${region}`;
}

function advise({ status, message, hasKey }: OperatorRefusal, { region, workspace }: AccountFacts): string | undefined {
  if (/workspace/i.test(message)) return `workspace ${workspace} must be one of the AWS account, and of the region ${region}`;
  if (status === 403 && !hasKey)
    return `the identity has no right to call models: attach the policy AnthropicInferenceAccess to it, for the workspace ${workspace}`;
  return undefined;
}

/**
 * Claude Platform on AWS: Anthropic's own interface with all that belongs to it, with signatures of AWS or a key of the
 * workspace. AWS bills it, at Anthropic's prices. Sources: docs.aws.amazon.com/claude-platform, "Making requests" and
 * "IAM actions"; Anthropic's aws-sdk 1.1.2.
 */
export const claudeAws: UpstreamVendor = {
  ...anthropicInterface,
  id: 'claude-aws',
  title: 'Claude Platform on AWS',
  addressOf: ({ region }) => (region === undefined ? undefined : `https://${service}.${region}.api.aws`),
  facts: ['region', 'workspace'],
  checkFacts,
  credentialKinds: ['aws'],
  usualCredential: { kind: 'aws' },
  keyVariables: [],
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  offers: ['threads'],
  authorize: (request, account, signal) => {
    const { workspace } = account.facts;
    const named = workspace === undefined ? request : { ...request, headers: { ...request.headers, 'anthropic-workspace-id': workspace } };
    return authorizeWithAws(named, account, signal, service);
  },
  refusesCredential: refusesAwsCredential,
  readRefusal: (answer) => readAwsRefusal(answer),
  adviseOperator: advise,
  takesIdempotencyKeys: true,
  replyHeaders: [...anthropicInterface.replyHeaders, 'x-amzn-requestid'],
  modelKinds: [{ names: /^claude/, kinds: ['chat'] }],
  proofsBelongTo: 'vendor',
  makers: ['anthropic'],
  modelBehind: (model) => model,
  keysUrl: 'https://console.aws.amazon.com/claude-platform',
};
