import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { dummySignature, isForeignSignature } from './thought-signature.ts';

const signatureNames = ['thoughtSignature', 'thought_signature'] as const;

const hasForeign = (part: JsonValue | undefined): boolean =>
  isJsonObject(part) && signatureNames.some((name) => typeof part[name] === 'string' && isForeignSignature(part[name]));

/** A list, or the single object that stands for one. */
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : isJsonObject(value) ? [value] : [];

function withoutSignature(part: JsonObject): JsonObject {
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return rest;
}

const isCall = (part: JsonObject): boolean => (part.functionCall ?? part.function_call) !== undefined;

/** Thoughts that no signature of the vendor proves. */
const isUnprovenThought = (part: JsonValue): boolean =>
  isJsonObject(part) && part.thought === true && (hasForeign(part) || signatureNames.every((name) => part[name] === undefined));

/** Parts without the signatures of others, the thoughts before them, and what carried nothing else. */
function cleanParts(parts: readonly JsonValue[]): readonly JsonValue[] {
  const kept: JsonValue[] = [];
  for (const part of parts) {
    if (!isJsonObject(part) || !hasForeign(part)) {
      kept.push(part);
      continue;
    }
    while (kept.length > 0 && isUnprovenThought(kept.at(-1) ?? null)) kept.pop();
    const rest = withoutSignature(part);
    // The vendor refuses calls without a signature; for calls that others made it documents this one.
    if (isCall(rest)) kept.push({ ...rest, thoughtSignature: dummySignature });
    else if (rest.thought !== true && rest.text !== '' && Object.keys(rest).length > 0) kept.push(rest);
  }
  return kept;
}

function cleanContents(contents: readonly JsonValue[]): readonly JsonValue[] {
  return contents.flatMap((content) => {
    if (!isJsonObject(content) || !listOf(content.parts).some(hasForeign)) return [content];
    const parts = cleanParts(listOf(content.parts));
    return parts.length === 0 ? [] : [{ ...content, parts }];
  });
}

/**
 * Takes signatures out that hold proofs of other vendors, with the thoughts that they sign. The body is as the client wrote it, in either
 * spelling; the same object comes back where there is nothing to take out.
 */
export function removeForeignProofs(body: JsonObject): JsonObject {
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const inner = body[name];
    if (!isJsonObject(inner)) continue;
    const cleaned = removeForeignProofs(inner);
    return cleaned === inner ? body : { ...body, [name]: cleaned };
  }
  const contents = listOf(body.contents);
  const isForeign = contents.some((content) => isJsonObject(content) && listOf(content.parts).some(hasForeign));
  return isForeign ? { ...body, contents: cleanContents(contents) } : body;
}
