import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { dummySignature, isForeignSignature } from './thought-signature.ts';

const signatureNames = ['thoughtSignature', 'thought_signature'] as const;

/** Whether a part has a signature that goes. */
type IsRefused = (part: JsonValue | undefined) => boolean;

const hasForeign: IsRefused = (part) =>
  isJsonObject(part) && signatureNames.some((name) => typeof part[name] === 'string' && isForeignSignature(part[name]));

const hasAny: IsRefused = (part) => isJsonObject(part) && signatureNames.some((name) => typeof part[name] === 'string');

/** Returns a list, also for a single object in place of one. */
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : isJsonObject(value) ? [value] : [];

function withoutSignature(part: JsonObject): JsonObject {
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return rest;
}

const isCall = (part: JsonObject): boolean => (part.functionCall ?? part.function_call) !== undefined;

/** Thoughts without a signature of the vendor. */
const isUnprovenThought = (part: JsonValue, isRefused: IsRefused): boolean =>
  isJsonObject(part) && part.thought === true && (isRefused(part) || signatureNames.every((name) => part[name] === undefined));

/** Removes foreign signatures, the thoughts before them, and parts without other content. */
function cleanParts(parts: readonly JsonValue[], isRefused: IsRefused): readonly JsonValue[] {
  const remaining: JsonValue[] = [];
  for (const part of parts) {
    if (!isJsonObject(part) || !isRefused(part)) {
      remaining.push(part);
      continue;
    }
    while (remaining.length > 0 && isUnprovenThought(remaining.at(-1) ?? null, isRefused)) remaining.pop();
    const rest = withoutSignature(part);
    // The vendor refuses calls without a signature, and documents this one for calls of other models.
    if (isCall(rest)) remaining.push({ ...rest, thoughtSignature: dummySignature });
    else if (rest.thought !== true && rest.text !== '' && Object.keys(rest).length > 0) remaining.push(rest);
  }
  return remaining;
}

function cleanContents(contents: readonly JsonValue[], isRefused: IsRefused): readonly JsonValue[] {
  return contents.flatMap((content) => {
    if (!isJsonObject(content) || !listOf(content.parts).some(isRefused)) return [content];
    const parts = cleanParts(listOf(content.parts), isRefused);
    return parts.length === 0 ? [] : [{ ...content, parts }];
  });
}

/**
 * Removes signatures with proofs of other vendors, and the thoughts that they sign. The body is as the client wrote it,
 * in either spelling. Returns the same object if there is nothing to remove.
 * @param all removes the signatures of the vendor too
 */
export function removeForeignProofs(body: JsonObject, all = false): JsonObject {
  const isRefused = all ? hasAny : hasForeign;
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const inner = body[name];
    if (!isJsonObject(inner)) continue;
    const cleaned = removeForeignProofs(inner, all);
    return cleaned === inner ? body : { ...body, [name]: cleaned };
  }
  const contents = listOf(body.contents);
  const hasRefused = contents.some((content) => isJsonObject(content) && listOf(content.parts).some(isRefused));
  return hasRefused ? { ...body, contents: cleanContents(contents, isRefused) } : body;
}
