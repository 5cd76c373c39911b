import { opaqueMembers } from '../inference/count-text-characters.ts';
import { wrappedProofPrefix } from '../inference/proof.ts';
import { isPrivateMedium } from '../platform/http/public-address.ts';
import { indexOf } from '../platform/json/indexed-object.ts';
import { type JsonIndex, jsonKind } from '../platform/json/json-index.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { NameTable } from '../platform/json/name-table.ts';

/** Rare contents of a request, each of which makes somebody read the whole request. */
const findings = [
  /** The id of a file. */
  'file',
  /** An address of media in a private network. */
  'private-address',
  /** The id of another object that a vendor stores. */
  'stored-id',
  /** A proof or a tool run of another vendor, which was translated here. */
  'foreign-proof',
  /** A form of one service, which is converted for others. */
  'own-spelling',
  /** A turn without content. */
  'empty-turn',
  /** A compaction, or the request for one. */
  'compaction',
  /** A reference to an item that is stored here. */
  'reference',
] as const;
type Finding = (typeof findings)[number];

/** A member that may be one of the findings. */
export type Watch = {
  readonly finding: Finding;
  readonly names: readonly string[];
  /** Whether its value may be the finding. Absent: any value is. */
  readonly test?: (index: JsonIndex, value: number) => boolean;
};

/** What one pass over the index of a request shows. */
class RequestSurvey {
  /** What `countTextCharacters` counts in the members with text. */
  readonly textCharacters: number;
  readonly #found: number;

  constructor(textCharacters: number, found: number) {
    this.textCharacters = textCharacters;
    this.#found = found;
  }

  /** False only if the request surely does not contain it, so that nobody has to look for it. */
  mayHave(finding: Finding): boolean {
    return (this.#found & bitOf(finding)) !== 0;
  }
}

const bitOf = (finding: Finding): number => 1 << findings.indexOf(finding);

/** Surveys a request once. Undefined if it has no index; then it must be read. */
export type SurveyRequest = (body: JsonObject) => RequestSurvey | undefined;

/** Whether a request may contain something. Look for it only then. */
export function mayHave(survey: SurveyRequest, body: JsonObject, finding: Finding): boolean {
  return survey(body)?.mayHave(finding) ?? true;
}

/** Tests whether a text begins with one of these prefixes. They are ASCII, and nobody escapes their characters. */
export function beginsWith(...prefixes: readonly string[]): NonNullable<Watch['test']> {
  const all = prefixes.map((prefix) => Buffer.from(prefix));
  return (index, value) => {
    if (index.kind(value) !== jsonKind.string) return false;
    if (index.hasEscapes(value)) return prefixes.some((prefix) => index.text(value)?.startsWith(prefix));
    const start = index.start(value) + 1;
    return all.some((prefix) => prefix.every((byte, at) => index.bytes[start + at] === byte));
  };
}

/** Bytes with which the address of a medium begins if it is not inline: a scheme, white space or an escape. */
const addressOpenings = new Set(Buffer.from('hHfF \\'));

/** An address in a private network, or of a file. Inline media are recognised by their first byte. */
function isPrivate(index: JsonIndex, value: number): boolean {
  if (index.kind(value) !== jsonKind.string) return false;
  const first = index.bytes[index.start(value) + 1] ?? 0;
  // White space may also be another character than a blank.
  return (first >= 0x80 || addressOpenings.has(first)) && isPrivateMedium(index.text(value) ?? '');
}

/** Members of any dialect that contain the address of a medium, because servers accept members of other interfaces. */
export const addressMembers = ['image_url', 'video_url', 'audio_url', 'file_url', 'file_data', 'fileUri', 'file_uri', 'url'] as const;

const watchedEverywhere: readonly Watch[] = [
  { finding: 'file', names: ['file_id', 'file_ids'] },
  { finding: 'private-address', names: addressMembers, test: isPrivate },
];

/** Where the gateway writes proofs of other vendors. */
export const foreignProofs: Watch = {
  finding: 'foreign-proof',
  names: ['signature', 'data', 'encrypted_content', 'thought_signature', 'thoughtSignature'],
  test: beginsWith(wrappedProofPrefix),
};

/**
 * Creates the survey of a dialect's requests: one pass over the nodes of the index, whatever is looked for.
 * @param textMembers members of the body whose text is counted
 */
export function createSurvey(textMembers: readonly string[], own: readonly Watch[]): SurveyRequest {
  const watches = [...watchedEverywhere, ...own];
  const members = new NameTable([...new Set([...opaqueMembers, ...watches.flatMap(({ names }) => names)])]);
  const texts = new NameTable(textMembers);
  const isOpaque = members.names.map((name) => opaqueMembers.has(name));
  const watchesOf = members.names.map((name) => watches.filter(({ names }) => names.includes(name)));
  const survey = (index: JsonIndex): RequestSurvey => {
    let found = 0;
    let characters = 0;
    const look = (at: number, value: number): void => {
      for (const { finding, test } of watchesOf[at] ?? []) if (test?.(index, value) !== false) found |= bitOf(finding);
    };
    const end = index.next(0);
    for (let key = index.first(0); key < end; key = index.next(key + 1)) {
      const isText = texts.find(index, key) !== -1;
      const next = index.next(key + 1);
      const at = members.find(index, key);
      if (at !== -1) look(at, key + 1);
      for (let node = key + 1; node < next; node++) {
        const kind = index.kind(node);
        if (kind === jsonKind.string) {
          if (isText) characters += index.size(node);
        } else if (kind === jsonKind.key) {
          const inner = members.find(index, node);
          if (inner === -1) continue;
          look(inner, node + 1);
          if (isOpaque[inner] === true && index.kind(node + 1) === jsonKind.string) node++;
        }
      }
    }
    return new RequestSurvey(characters, found);
  };
  const surveys = new WeakMap<JsonIndex, RequestSurvey>();
  return (body) => {
    const index = indexOf(body);
    if (index === undefined) return undefined;
    return surveys.getOrInsertComputed(index, survey);
  };
}
