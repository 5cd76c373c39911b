import { accountKindOf } from '../../inference/interfaces.ts';
import type { CallEnd, CallEntry } from '../ledger/call-entry.ts';

/** The kinds of names in call facts, with the numbers that the store keeps. Numbers are never reused. */
export const nameKinds = {
  user: 1,
  key: 2,
  model: 3,
  servedModel: 4,
  upstream: 5,
  upstreamModel: 6,
  interface: 7,
  error: 8,
  team: 9,
  tags: 10,
  tagName: 11,
  tagValue: 12,
} as const;
export type NameKind = keyof typeof nameKinds;

/**
 * A name of a call. Some have a label beside their value: keys their user and name (keyLabel) beside their id, teams
 * their name beside their id, values of tags the name of the tag.
 */
export type FactName = { readonly value: string; readonly label: string };

/** The ends of calls with the numbers that the store keeps. 0 is the end that is not a failure. */
export const endCodes = { finished: 0, 'client-left': 1, cut: 2, failed: 3, lost: 4 } as const satisfies Readonly<Record<CallEnd, number>>;

/** The end of a number of `endCodes`. */
export function endOfCode(code: number): CallEnd {
  const found = (Object.keys(endCodes) as readonly CallEnd[]).find((end) => endCodes[end] === code);
  if (found === undefined) throw new RangeError(`There is no end with the number ${code}.`);
  return found;
}

/** Facts that a call has or not, as bits. Bits are never reused. */
export const callFlags = {
  stream: 1,
  translated: 2,
  estimated: 4,
  video: 8,
  adapted: 16,
  emulated: 32,
  dropped: 64,
  unchecked: 128,
  repeated: 256,
} as const;
export type CallFlag = keyof typeof callFlags;

/** The kinds of translation notes, which are flags. */
const noteKinds = ['adapted', 'emulated', 'dropped', 'unchecked'] as const;
export type NoteKind = (typeof noteKinds)[number];

const keySeparator = '\u001f';

/** The user and the name of a key as one text. */
export function keyLabel(userName: string, keyName: string): string {
  return `${userName}${keySeparator}${keyName}`;
}

/** The two parts of keyLabel. */
export function splitKeyLabel(label: string): readonly [userName: string, keyName: string] {
  const at = label.indexOf(keySeparator);
  return at < 0 ? ['', label] : [label.slice(0, at), label.slice(at + 1)];
}

/** Names that come from upstreams are cut at this length. */
const foreignNameMax = 300;

/** The names of a row that are columns of its own. Tags are bounded before they get numbers. */
type RowName = Exclude<NameKind, 'tags' | 'tagName' | 'tagValue'>;

/** The facts of a row of the ledger that are searched for and counted, besides its sums. */
export type CallFact = {
  readonly names: Readonly<Record<RowName, FactName | undefined>>;
  /** As formatTags writes them. */
  readonly tags: string | undefined;
  readonly endCode: number;
  /** Status of the upstream's answer; 0 without one. */
  readonly status: number;
  readonly flags: number;
  /** The call that the row is a part of. */
  readonly parentId: string | undefined;
  /** Whether the row is one round of its call's loop, so that its end can be the end of the call. */
  readonly isRound: boolean;
  /** Whether the row asked an upstream: the use of tools and settlements did not. */
  readonly isRequest: boolean;
  readonly firstByteMs: number | undefined;
  /** The upstreams of the attempts before the last one. */
  readonly failedAttempts: readonly { readonly upstream: string; readonly upstreamModel: string }[];
};

/** The facts of a ledger row. */
export function describeCall(entry: CallEntry): CallFact {
  const foreign = (value: string | undefined): FactName | undefined => nameOf(value?.slice(0, foreignNameMax));
  const parentId = entry.parentCallId;
  return {
    names: {
      user: nameOf(entry.userName),
      key: { value: entry.keyId, label: keyLabel(entry.userName, entry.keyName) },
      model: nameOf(entry.requestedModel),
      servedModel: foreign(entry.servedModel),
      upstream: nameOf(entry.upstream),
      upstreamModel: foreign(entry.upstreamModel),
      interface: nameOf(entry.dialect),
      error: foreign(entry.errorCode),
      team: entry.team === undefined ? undefined : { value: entry.team.id, label: entry.team.name },
    },
    tags: entry.tags,
    endCode: endCodes[entry.end] ?? endCodes.lost,
    status: entry.upstreamStatus ?? 0,
    flags: flagsOf(entry),
    parentId,
    isRound: parentId !== undefined && /^\d+$/.test(entry.callId.slice(parentId.length + 1)),
    isRequest: entry.toolUsage === undefined && entry.settlement === undefined,
    firstByteMs: entry.firstByteMs === undefined ? undefined : readFirstByteMs(entry.firstByteMs),
    failedAttempts: (entry.failedAttempts ?? []).map(({ upstream, upstreamModel }) => ({
      upstream,
      upstreamModel: upstreamModel.slice(0, foreignNameMax),
    })),
  };
}

/** The time until an upstream's first byte as a fact: whole milliseconds. */
export function readFirstByteMs(ms: number): number {
  return Math.max(0, Math.round(ms));
}

function nameOf(value: string | undefined): FactName | undefined {
  return value === undefined || value === '' ? undefined : { value, label: '' };
}

function flagsOf(entry: CallEntry): number {
  let flags = 0;
  const set = (flag: CallFlag, isSet: boolean): void => {
    if (isSet) flags |= callFlags[flag];
  };
  set('stream', entry.stream);
  set('translated', entry.translation !== undefined);
  set('estimated', entry.estimated);
  set('video', accountKindOf(entry.dialect) === 'videos');
  set('repeated', (entry.failedAttempts?.length ?? 0) > 0);
  for (const { kind } of [...(entry.translation?.notes ?? []), ...(entry.replyNotes ?? [])]) set(kind, true);
  return flags;
}
