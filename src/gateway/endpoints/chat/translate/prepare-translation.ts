import type { EncodedRequest, ReplyReading, ReplyWriting, RequestFit } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect, UpstreamDialect } from '../../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { estimateTokens } from '../../../../inference/count-text-characters.ts';
import { watchedSequencesMax } from '../../../../inference/cut-at-sequences.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { CallLimits } from '../../../../inference/limit-calls.ts';
import { screenToolName } from '../../../../inference/screen-actions.ts';
import { fitLogprobs, rewrittenReply, withoutLogprobFields } from '../../../../inference/token-logprobs.ts';
import { type TranslationNotes, createTranslationNotes } from '../../../../inference/translation-notes.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { CompactionSealer } from '../compaction-summaries.ts';
import { type DocumentReader, readDocuments } from './read-documents.ts';
import { createUpstreamHeaders, shapeRequest } from '../../../attempts/exchange/prepare-request.ts';
import type { ProofVault } from '../proofs/proof-vault.ts';
import type { StopSequences } from '../../../attempts/routing/routing-table.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { type FetchMedia, inlineMedia } from './inline-media.ts';
import { asksForStrict } from '../../shared/asks-for-strict.ts';
import { restoreProofs } from './turn-proofs.ts';
import type { UsageReport } from '../../../../inference/usage.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

export type TranslationOptions = {
  readonly requestId: string;
  readonly client: ChatDialect;
  readonly upstream: UpstreamDialect;
  readonly request: WireRequest;
  /** The request in the neutral form if the gateway makes the call itself. `request` is then empty. */
  readonly neutral?: InferenceRequest | undefined;
  readonly facts: CallFacts;
  readonly target: Target;
  /** Whether the target has refused the reasoning of the conversation. Absent: no. */
  readonly withoutReasoning?: boolean;
  /** The client's framing if it asked for a stream. */
  readonly framing: StreamFraming | undefined;
  readonly caller: { readonly userName: string; readonly strictTranslation: boolean };
  readonly acceptedAtMs: number;
  /** The time of day. */
  readonly nowMs: () => number;
  readonly newId: (prefix: string) => string;
  readonly vault: ProofVault;
  readonly fetchMedia: FetchMedia;
  /** Reads documents that upstreams do not accept. Absent: none are read. */
  readonly documents?: DocumentReader | undefined;
  /** Whether the gateway or the upstream stops at stop sequences. Absent: the upstream, if it can. */
  readonly stopSequences?: StopSequences | undefined;
  /** Seals the summaries of conversations. Absent: no summaries are made here. */
  readonly summaries?: CompactionSealer | undefined;
  /** The client's request if `request` was derived from it. Replies repeat it. */
  readonly original?: WireRequest | undefined;
  /** The id of the reply if the gateway chooses it. */
  readonly replyId?: string | undefined;
  /** Whether the client has disconnected. The plan is not used then. */
  readonly hasLeft: () => boolean;
};

/** Decodes a request and completes it with what its upstream needs and its client does not send. */
export async function decodeForTarget(
  options: TranslationOptions,
): Promise<{ readonly neutral: InferenceRequest; readonly fit: RequestFit }> {
  const { client, upstream, request, target, caller } = options;
  const strict = asksForStrict(caller, request.headers);
  const notes = createTranslationNotes(client.codec.fieldNames, strict);
  const traits = target.upstream.traitsOf(target.upstreamModel);
  // No proof has this origin, so that none is sent.
  const proofOrigin = options.withoutReasoning === true ? '-' : target.upstream.proofOrigin;
  const decoded = options.neutral ?? client.codec.decodeRequest(request);
  const inlined = await inlineMedia(decoded, {
    dialect: upstream.id,
    traits,
    fetchMedia: options.fetchMedia,
    hasLeft: options.hasLeft,
    notes,
  });
  const readable = await readDocuments(inlined, {
    dialect: upstream.id,
    reader: options.documents,
    userName: caller.userName,
    hasLeft: options.hasLeft,
    notes,
  });
  const neutral = await restoreProofs(readable, caller.userName, options.vault, proofOrigin);
  return { neutral, fit: { upstreamModel: target.upstreamModel, traits, proofOrigin, notes } };
}

/** Writes a request for an upstream of another dialect, and gathers what is needed to read and write the reply. */
export async function prepareTranslation(
  options: TranslationOptions,
): Promise<{ readonly translation: Translation; readonly upstreamRequest: UpstreamRequest }> {
  const { client, upstream, request, target, framing, caller, vault, requestId, newId } = options;
  const { neutral, fit } = await decodeForTarget(options);
  const stops = takeStopSequences(options, neutral, fit.notes);
  const written = upstream.codec.encodeRequest(stops.request, fit);
  const encoded = stops.cutAt.length === 0 ? written : { ...written, cutAt: stops.cutAt };
  noteHiddenStops(options, stops.request, written, fit.notes);
  refuseManySequences(encoded.cutAt ?? [], fit.notes);
  const replyNotes = createTranslationNotes(client.codec.fieldNames, false);
  const translation: Translation = {
    client,
    upstream,
    encoded,
    stopSequences: neutral.stopSequences ?? [],
    callLimits: limitsOf(neutral),
    reading: { proofOrigin: options.target.upstream.proofOrigin, newId, notes: replyNotes },
    writing: {
      requestId,
      requestedModel: options.facts.requestedModel,
      request: (options.original ?? request).body,
      ...(options.replyId === undefined ? {} : { replyId: options.replyId }),
      ...writeCompaction(options, fit.notes),
      createdAtMs: options.acceptedAtMs,
      nowMs: options.nowMs,
      inputTokensEstimate: estimateTokens(options.facts.inputCharacters),
      newId,
      notes: replyNotes,
    },
    correctUsage: (report) => target.upstream.vendor.correctUsage?.(report, upstream.id) ?? report,
    notes: fit.notes,
    replyNotes,
    framing,
    rememberProofs: (turn) => vault.remember(caller.userName, turn),
  };
  const addressed = encoded.streams === false ? { ...options, framing: undefined } : options;
  const upstreamRequest = await addressRequest(addressed, encoded.body, fit.notes, encoded.headers);
  if (upstreamRequest === undefined) throw new Error(`${target.upstream.vendor.id} speaks ${upstream.id} and has no route for it`);
  return { translation, upstreamRequest };
}

/** Takes out the sequences at which the gateway cuts the reply because the model is configured so. */
function takeStopSequences(
  { upstream, stopSequences }: TranslationOptions,
  request: InferenceRequest,
  notes: TranslationNotes,
): CutRequest {
  const { stopSequences: requested = [], ...rest } = request;
  const cutAt = requested.filter((sequence) => sequence !== '');
  if (stopSequences !== 'gateway' || cutAt.length === 0 || upstream.codec.saysStopSequence) return { request, cutAt: [] };
  notes.emulated('stopSequences', 'this model is configured so that the gateway cuts the reply there and stops the upstream');
  fitLogprobs(request, notes, rewrittenReply);
  const { tokenLogprobs: _lost, ...left } = withoutLogprobFields(rest);
  return { request: left, cutAt };
}

type CutRequest = { readonly request: InferenceRequest; readonly cutAt: readonly string[] };

/** Notes that the upstream does not report stop sequences to a client whose dialect reports them. */
function noteHiddenStops(
  { client, upstream }: TranslationOptions,
  { stopSequences = [] }: InferenceRequest,
  { cutAt = [] }: EncodedRequest,
  notes: TranslationNotes,
): void {
  if (!client.codec.saysStopSequence || upstream.codec.saysStopSequence) return;
  if (stopSequences.every((sequence) => sequence === '' || cutAt.includes(sequence))) return;
  notes.adapted('stopSequences', 'the upstream stops there and may not report it; the reply then looks like one that ended by itself');
}

/** Computer actions come one at a time: the next one depends on the screen after the last one. */
function limitsOf({ parallelToolCalls, tools }: InferenceRequest): CallLimits | undefined {
  const screen = tools.find((tool) => tool.kind === 'function' && tool.screen !== undefined);
  if (parallelToolCalls !== false && screen === undefined) return undefined;
  return { oneCall: parallelToolCalls === false, calledOnce: screen === undefined ? undefined : screenToolName };
}

/** How the reply to a compaction is written. @throws GatewayError if no summary can be sealed here */
function writeCompaction(
  { client, request, summaries, caller }: TranslationOptions,
  notes: TranslationNotes,
): Pick<ReplyWriting, 'compaction'> {
  const form = client.codec.compactionOf?.(request);
  if (form === undefined) return {};
  if (summaries === undefined)
    throw new GatewayError(
      'untranslatable_field',
      'input: neither the upstream of this model nor this gateway can compact a conversation.',
      {
        param: 'input',
      },
    );
  notes.emulated({ path: 'input', otherwise: 'turns' }, 'the model summarizes the conversation; its vendor has no compaction');
  const seal = (summary: string): string => summaries.seal(caller.userName, summary);
  return { compaction: { form, input: request.body.input, seal } };
}

/** Watching costs time for each sequence and each character. One client must not delay the others with it. */
function refuseManySequences(cutAt: readonly string[], notes: TranslationNotes): void {
  const { count, characters } = watchedSequencesMax;
  const all = cutAt.reduce((sum, sequence) => sum + sequence.length, 0);
  if (cutAt.length <= count && all <= characters) return;
  notes.refuse(
    'stopSequences',
    `the upstream of this model does not accept all of them, and the gateway watches for at most ${count} of ${characters} characters in total`,
  );
}

/**
 * Writes a body and addresses it to its upstream. Undefined if the upstream has no route for the operation.
 * @param notes receives what the vendor of the upstream changes
 */
export async function addressRequest(
  { client, upstream, request, target, framing }: TranslationOptions,
  body: JsonObject,
  notes: TranslationNotes,
  required: Readonly<Record<string, string>> = {},
): Promise<UpstreamRequest | undefined> {
  const upstreamFraming = framing === undefined ? {} : ({ framing: 'sse' } as const);
  // A translated compaction is an ordinary request for a reply.
  const operation = request.operation === 'compact' ? 'generate' : request.operation;
  const route = { dialect: upstream.id, operation, upstreamModel: target.upstreamModel, ...upstreamFraming };
  const headers = joinHeaders(
    createUpstreamHeaders(request, target, { client: client.id, upstream: upstream.id }, upstreamFraming.framing),
    required,
  );
  const shaped = shapeRequest(target, route, { body, bytes: await writeJson(body), headers }, []);
  for (const { kind, field, reason } of shaped?.notes ?? []) {
    const place = { path: field, otherwise: 'turns' } as const;
    if (kind === 'dropped') notes.dropped(place, reason);
    else notes.adapted(place, reason);
  }
  return shaped?.upstreamRequest;
}

/** Adds the headers that a body requires. Values of lists are joined. */
function joinHeaders(headers: UpstreamRequest['headers'], required: Readonly<Record<string, string>>): UpstreamRequest['headers'] {
  const joined = { ...headers };
  for (const [name, value] of Object.entries(required)) {
    const existing = (joined[name] ?? '').split(',').map((part) => part.trim());
    joined[name] = [...new Set([...existing, value])].filter((part) => part !== '').join(',');
  }
  return joined;
}

/** A call whose client and upstream speak different dialects: how its reply is read and written. */
export type Translation = {
  readonly client: ChatDialect;
  readonly upstream: UpstreamDialect;
  readonly encoded: EncodedRequest;
  /** The stop sequences that the client asked for. No other sequence ends its reply. */
  readonly stopSequences?: readonly string[] | undefined;
  /** The most calls that the reply may make, if that is limited. */
  readonly callLimits?: CallLimits | undefined;
  readonly reading: ReplyReading;
  readonly writing: ReplyWriting;
  /** Corrects counts where the upstream's vendor counts differently from its dialect. */
  readonly correctUsage: (report: UsageReport) => UsageReport;
  /** Changes of the request. Notes about the reply come too late for a header and are only recorded. */
  readonly notes: TranslationNotes;
  readonly replyNotes: TranslationNotes;
  /** The client's framing if it asked for a stream. */
  readonly framing: StreamFraming | undefined;
  /** Called before the end of a reply is written, if the reply has calls with proofs that the client may lose. */
  readonly rememberProofs: (turn: VaultedTurn) => void;
};
