import type { CallEntry, CallOpening } from './call-entry.ts';

/** The members that are the same for every call of a key for a model, until the configuration changes. */
type CommonMembers = Omit<
  CallOpening,
  | 'callId'
  | 'acceptedAtMs'
  | 'inputCharacters'
  | 'tags'
  | 'translation'
  | 'failedAttempts'
  | 'parentCallId'
  | 'toolUsage'
  | 'pricingParameters'
  | 'heldNanoUsd'
  | 'heldPots'
  | 'payer'
>;

/** The last text of the common members of each key and model. */
const lastTexts = new Map<string, { readonly members: CommonMembers; readonly text: string }>();
/** Model names come from clients: the limit keeps them from filling memory. */
const lastTextsMax = 1000;
const keyCharactersMax = 1000;

/** An opening as the journal writes it, and as every entry begins. Undefined members are omitted. */
export function encodeOpening(opening: CallOpening): string {
  const { callId, acceptedAtMs, inputCharacters, translation, failedAttempts, parentCallId, toolUsage, pricingParameters } = opening;
  const own = `{"callId":${JSON.stringify(callId)},"acceptedAtMs":${JSON.stringify(acceptedAtMs)},"inputCharacters":${JSON.stringify(inputCharacters)},`;
  let text = own + encodeCommon(opening);
  if (opening.tags !== undefined) text += `,"tags":${JSON.stringify(opening.tags)}`;
  if (translation !== undefined) text += `,"translation":${JSON.stringify(translation)}`;
  if (failedAttempts !== undefined) text += `,"failedAttempts":${JSON.stringify(failedAttempts)}`;
  if (parentCallId !== undefined) text += `,"parentCallId":${JSON.stringify(parentCallId)}`;
  if (toolUsage !== undefined) text += `,"toolUsage":${JSON.stringify(toolUsage)}`;
  if (pricingParameters !== undefined) text += `,"pricingParameters":${JSON.stringify(pricingParameters)}`;
  if (opening.heldNanoUsd !== undefined) text += `,"heldNanoUsd":${JSON.stringify(opening.heldNanoUsd)}`;
  if (opening.heldPots !== undefined) text += `,"heldPots":${JSON.stringify(opening.heldPots)}`;
  if (opening.payer !== undefined) text += `,"payer":${JSON.stringify(opening.payer)}`;
  return `${text}}`;
}

/** The common members without their braces. They are encoded again only if one of them changes. */
function encodeCommon(opening: CommonMembers): string {
  const key = `${opening.keyId}\n${opening.requestedModel}`;
  const last = lastTexts.get(key);
  if (last !== undefined && isSame(last.members, opening)) return last.text;
  const members = {
    userName: opening.userName,
    keyId: opening.keyId,
    keyName: opening.keyName,
    dialect: opening.dialect,
    requestedModel: opening.requestedModel,
    upstream: opening.upstream,
    vendor: opening.vendor,
    upstreamModel: opening.upstreamModel,
    stream: opening.stream,
    priceVersion: opening.priceVersion,
    ...(opening.team === undefined ? {} : { team: opening.team }),
  } satisfies CommonMembers;
  const text = JSON.stringify(members).slice(1, -1);
  if (lastTexts.size >= lastTextsMax) lastTexts.clear();
  if (key.length <= keyCharactersMax) lastTexts.set(key, { members, text });
  return text;
}

function isSame(one: CommonMembers, other: CommonMembers): boolean {
  return (
    one.keyId === other.keyId &&
    one.requestedModel === other.requestedModel &&
    one.userName === other.userName &&
    one.keyName === other.keyName &&
    one.dialect === other.dialect &&
    one.upstream === other.upstream &&
    one.vendor === other.vendor &&
    one.upstreamModel === other.upstreamModel &&
    one.stream === other.stream &&
    one.priceVersion === other.priceVersion &&
    one.team?.id === other.team?.id &&
    one.team?.name === other.team?.name
  );
}

/**
 * An entry as the journal writes it: JSON, with the amount as a decimal string because JSON numbers are floats.
 * @param opening the text of encodeOpening, if it exists already: then it is not encoded again
 */
export function encodeEntry(entry: CallEntry, opening?: string): string {
  return encodeInPieces(entry, opening).join('');
}

/** The same in pieces, for those who write it: joining them would copy the whole text once more. */
export function encodeInPieces(entry: CallEntry, opening: string = encodeOpening(entry)): readonly string[] {
  const { charge } = entry;
  const closing = JSON.stringify({
    end: entry.end,
    upstreamStatus: entry.upstreamStatus,
    servedModel: entry.servedModel,
    replyId: entry.replyId,
    stopReason: entry.stopReason,
    serviceTier: entry.serviceTier,
    replyParameters: entry.replyParameters,
    errorCode: entry.errorCode,
    replyNotes: entry.replyNotes,
    usage: entry.usage,
    rawUsage: entry.rawUsage,
    estimated: entry.estimated,
    durationMs: entry.durationMs,
    disconnect: entry.disconnect,
    firstByteMs: entry.firstByteMs,
    disputed: entry.disputed,
    settlement: entry.settlement,
    charge: { amountNanoUsd: charge.amountNanoUsd.toString(), lines: charge.lines, priceId: charge.priceId },
  } satisfies Record<Exclude<keyof CallEntry, keyof CallOpening | 'upstreamRequestId'>, unknown>);
  // This id is a slice of a header's text. As a part of the object it would make V8 encode all members in its slow
  // path, in twice the time.
  const requestId = entry.upstreamRequestId === undefined ? ',' : `,"upstreamRequestId":${JSON.stringify(entry.upstreamRequestId)},`;
  return [opening.slice(0, -1), requestId, closing.slice(1)];
}

/** An entry as the JSON parser returns it. */
type WrittenEntry = CallEntry & { readonly charge: { amountNanoUsd: unknown } };

/**
 * Decodes an entry; the parsed value becomes the entry. The record's checksum guarantees its content, so only what the
 * type system cannot express is checked.
 */
export function decodeEntry(value: unknown): CallEntry {
  const written = value as WrittenEntry;
  const amount: unknown = written.charge?.amountNanoUsd;
  if (typeof written.callId !== 'string' || typeof amount !== 'string' || !/^-?[0-9]{1,30}$/.test(amount)) {
    throw new Error('The text is not a ledger entry.');
  }
  written.charge.amountNanoUsd = BigInt(amount);
  return written;
}
