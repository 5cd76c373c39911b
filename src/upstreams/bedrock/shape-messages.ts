import type { TranslationNote } from '../../inference/translation-notes.ts';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { objectsOf } from '../../platform/json/json-readers.ts';
import type { AccountFacts } from '../account-facts.ts';
import type { RequestChanges, ShapedRequest } from '../reshape.ts';
import { editMembers } from '../../platform/json/edit-members.ts';
import betaFlags from './beta-flags.json' with { type: 'json' };
import { isInvoked } from './choose-path.ts';

const accepted: ReadonlySet<string> = new Set(betaFlags.accepted);
const renamed: Readonly<Record<string, string>> = betaFlags.renamed;

/** The version of Anthropic's interface that InvokeModel demands. */
const invokeVersion = '"bedrock-2023-05-31"';

/**
 * Fits a Messages request to Bedrock. InvokeModel takes it without `model` and `stream`, with a version and the beta
 * flags in the body; the Messages interface takes it as it is. Both refuse a request with a flag that they do not know,
 * so that such flags go. Source: Anthropic's bedrock-sdk, and vercel/ai for fields of tools.
 */
export function shapeMessages(request: ShapedRequest, facts: AccountFacts): RequestChanges | undefined {
  const { route, body, bytes } = request;
  if (route.dialect !== 'anthropic-messages') return undefined;
  const { flags, notes } = chooseFlags(request.headers['anthropic-beta'], facts.betas);
  const toolEdits = removeFromTools(request, notes);
  if (route.operation === 'count-tokens') return countInvoked(request, toolEdits, notes);
  if (!isInvoked(route, facts))
    return { edits: toolEdits, headers: { 'anthropic-beta': flags.length === 0 ? undefined : flags.join(',') }, notes };
  const set = {
    ...(body.anthropic_version === undefined ? { anthropic_version: invokeVersion } : {}),
    ...(flags.length === 0 ? {} : { anthropic_beta: JSON.stringify(flags) }),
  };
  const remove = ['model', 'stream', ...(flags.length === 0 ? ['anthropic_beta'] : [])];
  return {
    edits: [...editMembers({ body, bytes }, { remove, set }), ...toolEdits],
    headers: {
      'anthropic-beta': undefined,
      'anthropic-version': undefined,
      accept: route.framing === undefined ? 'application/json' : 'application/vnd.amazon.eventstream',
    },
    notes,
  };
}

/** The flags of a request that the service accepts, and a note for each of the others. */
function chooseFlags(
  header: string | undefined,
  own: readonly string[] = [],
): { readonly flags: readonly string[]; readonly notes: TranslationNote[] } {
  const asked = (header ?? '').split(',').map((flag) => flag.trim());
  const flags = new Set<string>();
  const notes: TranslationNote[] = [];
  for (const flag of asked.filter((each) => each !== '')) {
    const sent = own.includes(flag) ? flag : (renamed[flag] ?? flag);
    if (sent !== flag) notes.push({ kind: 'adapted', field: `anthropic-beta ${flag}`, reason: `it is called ${sent} there` });
    if (accepted.has(sent) || own.includes(sent)) flags.add(sent);
    else notes.push({ kind: 'dropped', field: `anthropic-beta ${flag}`, reason: 'AWS Bedrock refuses requests with it' });
  }
  return { flags: [...flags], notes };
}

/** Members of tools that Bedrock refuses. The beta flag of the same name is accepted instead. */
const refusedInTools = ['eager_input_streaming'];

function removeFromTools({ body, bytes }: ShapedRequest, notes: TranslationNote[]): readonly JsonEdit[] {
  return objectsOf(body.tools).flatMap((tool, index) => {
    const remove = refusedInTools.filter((name) => Object.hasOwn(tool, name));
    for (const name of remove) notes.push({ kind: 'dropped', field: `tools.${index}.${name}`, reason: 'AWS Bedrock refuses it' });
    return remove.length === 0 ? [] : editMembers({ body, bytes }, { path: ['tools', index], remove });
  });
}

/** The output limit that a request must have to be counted, though nothing is written. */
const countedLimit = '1';

/** Counting takes the body of InvokeModel in base64. Source: "CountTokens" of the Bedrock API reference. */
function countInvoked({ body, bytes }: ShapedRequest, toolEdits: readonly JsonEdit[], notes: readonly TranslationNote[]): RequestChanges {
  const set = { anthropic_version: invokeVersion, ...(body.max_tokens === undefined ? { max_tokens: countedLimit } : {}) };
  const invoked = applyJsonEdits(bytes, [...editMembers({ body, bytes }, { remove: ['model', 'stream'], set }), ...toolEdits]);
  const replacement = JSON.stringify({ input: { invokeModel: { body: invoked.toString('base64') } } });
  return {
    edits: [{ start: 0, end: bytes.length, replacement }],
    headers: { 'anthropic-beta': undefined, 'anthropic-version': undefined },
    notes,
  };
}
