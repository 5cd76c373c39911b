import type { VendorField } from '../../../inference/inference-request.ts';
import { membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { decodeResolution } from './decode-media.ts';

/** The members that are read of each kind of part. Other parts are carried, refused or left out as a whole. */
const dataMembers: Readonly<Record<string, readonly string[]>> = {
  inlineData: ['mimeType', 'data', 'displayName'],
  fileData: ['mimeType', 'fileUri', 'displayName'],
  functionCall: ['name', 'args', 'id'],
  functionResponse: ['name', 'response', 'id', 'parts'],
  executableCode: ['language', 'code', 'id'],
  codeExecutionResult: ['outcome', 'output', 'id'],
};

const read: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'mediaResolution', ...Object.keys(dataMembers)]);
const hints: ReadonlySet<string> = new Set(['partMetadata']);

/** Lists the members of a part that are not read. */
export function listPartFields(part: JsonObject, path: string): readonly VendorField[] {
  const holders = Object.entries(dataMembers).filter(([holder]) => part[holder] !== undefined);
  if (holders.length === 0 && part.text === undefined) return listUnread({ partMetadata: part.partMetadata }, path, read, hints);
  return [
    ...listUnread(part, path, read, hints),
    ...holders.flatMap(([holder, members]) => listUnread(part[holder], `${path}.${holder}`, new Set(members))),
    ...listResolution(part, path),
  ];
}

/** Lists a resolution that no image carries: one of another level than the two neutral ones, or on another medium. */
function listResolution({ mediaResolution, inlineData, fileData }: JsonObject, path: string): readonly VendorField[] {
  if (!isSaid(mediaResolution)) return [];
  const { mimeType } = membersOf(inlineData ?? fileData);
  const isCarried =
    typeof mimeType === 'string' && mimeType.startsWith('image/') && decodeResolution(membersOf(mediaResolution).level) !== undefined;
  return [{ field: `${path}.mediaResolution`, value: mediaResolution, weight: isCarried ? 'harmless' : 'matters' }];
}
