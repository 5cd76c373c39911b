import { membersOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { AccountFacts } from '../account-facts.ts';
import { adviseAboutAws } from '../advise-about-aws.ts';
import { authorizeWithAws, dnsSuffixOf } from '../authorize-with-aws.ts';
import { commonReplyHeaders } from '../header-lists.ts';
import { openaiRequestHeaders } from '../openai-interfaces.ts';
import { readAwsRefusal, refusesAwsCredential } from '../read-aws-refusal.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { dialectsOf, locate } from './choose-path.ts';
import { correctConverse } from './correct-usage.ts';
import { readGuardrailReply } from './guardrail-replies.ts';
import { reframe } from './read-frames.ts';
import { reshape } from './shape-requests.ts';
import { areaOf, readModelName, type BedrockModel } from './model-names.ts';
import { traitsOfBedrock } from './model-traits.ts';

/** The address of an account's region. Source: "Amazon Bedrock endpoints" of the AWS general reference. */
function addressOf({ region, endpoint }: AccountFacts): string | undefined {
  if (region === undefined) return undefined;
  return endpoint === 'mantle' ? `https://bedrock-mantle.${region}.api.aws` : `https://bedrock-runtime.${region}.${dnsSuffixOf(region)}`;
}

/** The region in the name of a Bedrock host. Undefined for other hosts. */
const regionIn = (host: string): string | undefined => /^bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z0-9-]+)\./.exec(host)?.[1];

function checkFacts({ region, endpoint, guardrail }: AccountFacts, baseUrl: string | undefined): string | undefined {
  if (region === undefined) return 'region is required for bedrock, for example region: eu-central-1';
  const named = baseUrl === undefined || !URL.canParse(baseUrl) ? undefined : regionIn(new URL(baseUrl).host);
  if (named !== undefined && named !== region) return `baseUrl is an address of the region ${named}, and region is ${region}`;
  if (endpoint === 'mantle' && guardrail !== undefined) return 'bedrock-mantle has no guardrails: remove guardrail or endpoint: mantle';
  if (baseUrl?.includes('bedrock-mantle.') === true && endpoint !== 'mantle')
    return 'baseUrl is an address of bedrock-mantle: set endpoint: mantle';
  return undefined;
}

/** The maker whose models accept each other's proofs. Undefined for Claude and for names that say nothing. */
const proofGroupOf = ({ maker }: BedrockModel): string | undefined => (maker === 'anthropic' ? undefined : maker);

/** The reply to CountTokens as Anthropic writes it. */
function readCount(reply: unknown): JsonObject | undefined {
  const { inputTokens } = membersOf(reply);
  return typeof inputTokens === 'number' ? { input_tokens: inputTokens } : undefined;
}

/** AWS Bedrock: Claude by Messages and InvokeModel, OpenAI's models by their own interfaces, all others by Converse. */
export const bedrock: UpstreamVendor = {
  id: 'bedrock',
  title: 'AWS Bedrock',
  keyVariables: [],
  facts: ['region', 'endpoint', 'betas', 'guardrail'],
  addressOf,
  checkFacts,
  credentialKinds: ['aws'],
  usualCredential: { kind: 'aws' },
  dialects: ['anthropic-messages', 'openai-responses', 'openai-chat', 'bedrock-converse'],
  optionalDialects: [],
  dialectsOf,
  offers: [],
  locate,
  reshape,
  reframe,
  reshapeReply: (reply) => readCount(reply) ?? readGuardrailReply(reply),
  correctUsage: (report, dialect) => (dialect === 'bedrock-converse' ? correctConverse(report) : report),
  readRefusal: (answer) => readAwsRefusal(answer),
  adviseOperator: adviseAboutAws,
  services: {},
  authorize: (request, account, signal) =>
    authorizeWithAws(request, account, signal, account.facts.endpoint === 'mantle' ? 'bedrock-mantle' : 'bedrock'),
  refusesCredential: refusesAwsCredential,
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  requestHeaders: [...openaiRequestHeaders, 'anthropic-version', 'anthropic-beta'],
  headerAliases: { 'vendor-version': 'anthropic-version', 'vendor-beta': 'anthropic-beta' },
  requiredHeaders: { 'anthropic-version': '2023-06-01' },
  replyHeaders: [...commonReplyHeaders, 'x-amzn-requestid'],
  traitsOf: traitsOfBedrock,
  proofsBelongTo: 'vendor',
  // Claude's are those of Bedrock, as ever; no other maker's model reads them.
  proofGroupOf: (model) => proofGroupOf(readModelName(model)),
  makers: ['anthropic', 'openai'],
  modelBehind: (model) => readModelName(model).ownName ?? model,
  // The profile of an application does not say its area, and counts as that of its region.
  servedIn: (model, { region }) => areaOf(model) ?? region,
  probePath: '/openai/v1/models',
  keysUrl: 'https://console.aws.amazon.com/bedrock/home#/api-keys',
};
