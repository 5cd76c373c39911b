import type { ToolFinding } from '../../../inference/inference-request.ts';
import { unwrapProof, wrapProof } from '../../../inference/proof.ts';
import { filledText, numberOf } from '../../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';

/**
 * Marks the content of a page that the gateway encoded. The vendor could not read it, and the gateway reads it in the
 * history.
 */
const sealOrigin = 'finding';

/**
 * Replaces the vendor's sealed content of a page, which only the vendor can write, with the encoded text. No client
 * reads it.
 */
export function sealFinding({ text, score }: ToolFinding): string {
  return wrapProof({ origin: sealOrigin, blob: JSON.stringify({ text, score }) });
}

/** Reads the output of `sealFinding`. Nothing for the vendor's own content. */
export function openFinding(sealed: unknown): Pick<ToolFinding, 'text' | 'score'> {
  const proof = typeof sealed === 'string' ? unwrapProof(sealed) : undefined;
  if (proof?.origin !== sealOrigin) return {};
  const found = parseJsonObject(proof.blob);
  const text = filledText(found?.text);
  const score = numberOf(found?.score);
  return { ...(text === undefined ? {} : { text }), ...(score === undefined ? {} : { score }) };
}
