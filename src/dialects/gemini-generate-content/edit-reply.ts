import type { Frame } from '../../platform/frames.ts';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { listElements, listMembers, locateJson } from '../../platform/json/locate-json.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { FrameVerdict } from '../chat-dialect.ts';
import { contractScoreName, vendorScoreName } from './score-names.ts';

/** Inserts the contract's name of the score beside the vendor's, with the bytes of its value. */
function createScoreEdits(json: Buffer): readonly JsonEdit[] {
  const candidates = locateJson(json, ['candidates']);
  if (candidates === undefined) return [];
  const edits: JsonEdit[] = [];
  for (const index of listElements(json, candidates).keys()) {
    const metadata = locateJson(json, ['candidates', index, 'groundingMetadata', 'retrievalMetadata']);
    if (metadata === undefined) continue;
    const members = listMembers(json, metadata);
    const score = members.find((member) => member.key === vendorScoreName);
    if (score === undefined || members.some((member) => member.key === contractScoreName)) continue;
    const value = json.toString('utf8', score.valueSpan.start, score.valueSpan.end);
    edits.push({ start: score.keySpan.start, end: score.keySpan.start, replacement: `"${contractScoreName}":${value},` });
  }
  return edits;
}

/**
 * Adds the contract's name of the dynamic retrieval score (contract C, 2.2) to a whole reply. Returns the same buffer
 * if there is none.
 */
export function editReply(bytes: Buffer): Buffer {
  // Nearly every reply ends here.
  return bytes.includes(vendorScoreName) ? applyJsonEdits(bytes, createScoreEdits(bytes)) : bytes;
}

/** The same for one frame of a stream. Everything around the JSON (`data: `, a comma, line ends) is unchanged. */
export function editFrame(frame: Frame): FrameVerdict {
  if (!frame.data.includes(vendorScoreName)) return 'forward';
  const json = Buffer.from(frame.data);
  const edits = createScoreEdits(json);
  if (edits.length === 0) return 'forward';
  const edited = applyJsonEdits(json, edits);
  const start = frame.bytes.indexOf(json);
  // A payload over several `data:` lines is not contiguous in the frame.
  if (start === -1) return { bytes: encodeSse({ data: edited.toString('utf8'), newline: '\r\n' }) };
  return { bytes: Buffer.concat([frame.bytes.subarray(0, start), edited, frame.bytes.subarray(start + json.length)]) };
}
