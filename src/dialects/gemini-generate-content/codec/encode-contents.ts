import type { MediaPart, Part, ReasoningPart, ToolCallPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import { readToolArguments } from '../../../inference/tool-arguments.ts';
import { resultObject } from '../../../inference/tool-results.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeCode } from './encode-code.ts';
import { encodeMedia, encodeSource } from './encode-media.ts';
import type { OwnFields } from './own-fields.ts';
import { dummySignature } from './thought-signature.ts';

export type ContentWriting = {
  readonly fit: RequestFit;
  /** The parts of the request that only this dialect can express. */
  readonly own: OwnFields;
  readonly toWireName: (name: string) => string;
};

/**
 * Replayable content in addition to text: code, if the upstream runs it, and parts of this dialect, if the request
 * was of it.
 */
type Replayable = { readonly runsCode: boolean; readonly isOwn: boolean };

const isOwn = (proof: Proof | undefined, fit: RequestFit): proof is Proof => proof?.origin === fit.proofOrigin && proof.hidden !== true;

/**
 * Leaves out content that this upstream cannot replay, with notes: reasoning, proofs and tool records of other vendors.
 * Refuses a request whose conversation makes no sense without its content.
 */
export function keepReplayable(turns: readonly Turn[], fit: RequestFit, replayable: Replayable): readonly Turn[] {
  return turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap((part) => keepPart(part, fit, replayable)) }));
}

function keepPart(part: Part, fit: RequestFit, { runsCode, isOwn: isOwnRequest }: Replayable): readonly Part[] {
  const place = { path: part.path, otherwise: 'turns' } as const;
  switch (part.kind) {
    case 'reasoning':
      return isOwn(part.proof, fit) ? [part] : [];
    case 'text':
    case 'tool-call': {
      if (part.proof === undefined || isOwn(part.proof, fit)) return [part];
      const { proof: _foreign, ...rest } = part;
      return [rest];
    }
    case 'server-tool': {
      if (part.tool === 'code-execution' && runsCode) return [part];
      const codeText = codeAsText(part);
      if (codeText !== undefined) {
        fit.notes.adapted(place, codeAsTextReason);
        return [codeText];
      }
      fit.notes.dropped(place, "the activity of another vendor's tool cannot be replayed here");
      return [];
    }
    case 'vendor':
      if (isOwnRequest) return [part];
      if (part.elsewhere === 'refuse')
        return fit.notes.refuse(place, `${part.name} is known to one vendor only, and this upstream is another. Leave it out.`);
      fit.notes.dropped(place, `${part.name} is known to one vendor only`);
      return [];
    case 'media':
    case 'refusal':
    case 'tool-result':
      return [part];
  }
}

/** Writes turns in the order of `arrangeTurns`. */
export function encodeContents(turns: readonly Turn[], writing: ContentWriting): readonly JsonObject[] {
  return turns.map((turn) =>
    turn.role === 'assistant'
      ? { role: 'model', parts: encodeModelParts(turn.parts, writing) }
      : { role: 'user', parts: encodeUserParts(turn.parts, writing) },
  );
}

function encodeUserParts(parts: readonly Part[], writing: ContentWriting): readonly JsonObject[] {
  const results: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const part of parts) {
    if (part.kind === 'tool-result') {
      const { response, followers } = encodeResult(part, writing);
      results.push(response);
      others.push(...followers);
    } else if (part.kind === 'media') others.push(...encodeOwnMedia(part, writing));
    else if (part.kind === 'vendor') others.push(part.wire);
    else if (part.kind === 'text' || part.kind === 'refusal') others.push({ text: part.text });
  }
  return [...results, ...others];
}

/** Writes a medium with the members that only this dialect has. */
function encodeOwnMedia(part: MediaPart, { fit, own }: ContentWriting): readonly JsonObject[] {
  const written = encodeMedia(part, fit);
  const members = own.take(part.path);
  return Object.keys(members).length === 0
    ? written
    : written.map((wire, at) => (at === written.length - 1 ? { ...wire, ...members } : wire));
}

/** Writes a result. Media that it cannot contain are returned, to follow all results. */
function encodeResult(
  part: ToolResultPart,
  { fit, own, toWireName }: ContentWriting,
): { readonly response: JsonObject; readonly followers: readonly JsonObject[] } {
  const media = part.content.filter((piece): piece is MediaPart => piece.kind === 'media');
  const held = media.filter((piece) => fit.traits.imagesInToolResults && piece.source.kind === 'inline');
  const moved = media.filter((piece) => !held.includes(piece));
  const followers = moved.flatMap((piece) => [
    { text: `The ${piece.media} returned by the call ${part.callId}:` },
    ...encodeMedia(piece, fit),
  ]);
  if (moved.length > 0) {
    fit.notes.adapted({ path: part.path, otherwise: 'turns' }, 'media in a result follow it, because a result cannot contain them');
  }
  const isSilent = part.content.length > 0 && media.length === part.content.length;
  const response = isSilent
    ? { result: moved.length > 0 ? `The ${moved[0]?.media} follows.` : 'See the attached media.' }
    : resultObject(part);
  return {
    response: {
      functionResponse: {
        id: part.callId,
        name: toWireName(part.name ?? ''),
        response: part.isError && isSilent ? { error: response.result } : response,
        ...own.take(part.path === undefined ? undefined : `${part.path}.functionResponse`),
        ...(held.length === 0
          ? {}
          : { parts: held.flatMap((piece) => (piece.source.kind === 'vendor-file' ? [] : [encodeSource(piece.source)])) }),
      },
    },
    followers,
  };
}

const signed = (proof: Proof | undefined): JsonObject => (proof === undefined ? {} : { thoughtSignature: proof.blob });

function encodeModelParts(parts: readonly Part[], writing: ContentWriting): readonly JsonObject[] {
  const written: JsonObject[] = [];
  let carried: Proof | undefined;
  let hasCall = false;
  for (const [index, part] of parts.entries()) {
    const proof = carried;
    carried = undefined;
    if (part.kind === 'reasoning') {
      // From other dialects, the proof of a call or a text arrives as that of the reasoning before it; the vendor
      // requires it on the part itself.
      if (takesProof(parts[index + 1], part)) carried = part.proof;
      else written.push(encodeReasoning(part));
    } else if (part.kind === 'tool-call') {
      written.push(encodeCall(part, part.proof ?? proof, { ...writing, isFirst: !hasCall }));
      hasCall = true;
    } else written.push(...encodeModelPart(part, proof, writing));
  }
  return written;
}

function takesProof(next: Part | undefined, reasoning: ReasoningPart): boolean {
  if (next?.kind === 'tool-call') return next.proof === undefined;
  return next?.kind === 'text' && next.proof === undefined && reasoning.text.length === 0;
}

function encodeReasoning({ text, proof }: ReasoningPart): JsonObject {
  const thoughts = text.join('\n\n');
  return { text: thoughts, ...(thoughts === '' ? {} : { thought: true }), ...signed(proof) };
}

function encodeModelPart(part: Part, proof: Proof | undefined, writing: ContentWriting): readonly JsonObject[] {
  if (part.kind === 'text') return [{ text: part.text, ...signed(part.proof ?? proof) }];
  if (part.kind === 'refusal') return [{ text: part.text }];
  if (part.kind === 'media') return encodeOwnMedia(part, writing);
  if (part.kind === 'vendor') return [part.wire];
  return part.kind === 'server-tool' ? encodeCode(part) : [];
}

type CallWriting = ContentWriting & { readonly isFirst: boolean };

function encodeCall(part: ToolCallPart, proof: Proof | undefined, { fit, toWireName, isFirst }: CallWriting): JsonObject {
  const args = readToolArguments(part, fit.notes);
  const isUnproven = proof === undefined && isFirst && fit.traits.requiresProofs;
  if (isUnproven) {
    fit.notes.adapted(
      { path: part.path, otherwise: 'turns' },
      'a call without a signature of this vendor is sent with the documented substitute',
    );
  }
  return {
    functionCall: { id: part.id, name: toWireName(part.name), args },
    ...(isUnproven ? { thoughtSignature: dummySignature } : signed(proof)),
  };
}
