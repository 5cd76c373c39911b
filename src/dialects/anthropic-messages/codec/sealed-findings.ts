import type { ToolFinding } from '../../../inference/inference-request.ts';
import { unwrapProof, wrapProof } from '../../../inference/proof.ts';
import { filledText, numberOf } from '../../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';

/** Marks the content of a page that was sealed here: the vendor could not read it, and we read it when the history comes back. */
const sealOrigin = 'finding';

/** What stands for the vendor's sealed content of a page, which only it can write: the text itself, in a form that no client looks into. */
export function sealFinding({ text, score }: ToolFinding): string {
  return wrapProof({ origin: sealOrigin, blob: JSON.stringify({ text, score }) });
}

/** What `sealFinding` sealed; nothing for the vendor's own seals. */
export function openFinding(sealed: unknown): Pick<ToolFinding, 'text' | 'score'> {
  const proof = typeof sealed === 'string' ? unwrapProof(sealed) : undefined;
  if (proof?.origin !== sealOrigin) return {};
  const found = parseJsonObject(proof.blob);
  const text = filledText(found?.text);
  const score = numberOf(found?.score);
  return { ...(text === undefined ? {} : { text }), ...(score === undefined ? {} : { score }) };
}
