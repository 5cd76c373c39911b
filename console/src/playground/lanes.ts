import type { InterfaceId, Thinking } from './conversation.ts';
import { isInterfaceId } from './interfaces/registry.ts';

/** What all lanes share unless one says otherwise. Texts are kept out of addresses. */
export type Parameters = {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly thinking?: Thinking | undefined;
};

/** How a request of Responses goes: as a POST, as a POST whose response goes on without the page, or over a WebSocket. */
export const ways = ['post', 'background', 'socket'] as const;
export type Way = (typeof ways)[number];

/** One lane of the comparison: an interface, a model, and parameters of its own. */
export type Lane = {
  readonly by: InterfaceId;
  readonly model: string;
  readonly stream: boolean;
  readonly own: Parameters;
  /** Of Responses; others are always a POST. */
  readonly way: Way;
  /** Whether Responses go on from the stored response by its id, and send only what is new. */
  readonly byId: boolean;
};

/** The way of a lane: only Responses have several. */
export const wayOf = ({ by, way }: Pick<Lane, 'by' | 'way'>): Way => (by === 'responses' ? way : 'post');

export const lanesMax = 4;

export const isThinking = (text: string | undefined): text is Thinking => text === 'low' || text === 'medium' || text === 'high';

/** A number that a person or an address has written; undefined for anything else. */
export function readNumber(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** A lane as an address has it: `messages;stream=0;temp=0.2:claude-sonnet-4-5`. Undefined for anything else. */
export function readLane(text: string): Lane | undefined {
  const end = text.indexOf(':');
  if (end === -1) return undefined;
  const [by = '', ...options] = text.slice(0, end).split(';');
  if (!isInterfaceId(by)) return undefined;
  const values = new Map(options.map((option) => option.split('=', 2) as [string, string | undefined]));
  const thinking = values.get('think');
  return {
    by,
    model: text.slice(end + 1),
    stream: values.get('stream') !== '0',
    own: {
      temperature: readNumber(values.get('temp')),
      maxTokens: readNumber(values.get('max')),
      thinking: isThinking(thinking) ? thinking : undefined,
    },
    way: ways.find((way) => way === values.get('way')) ?? 'post',
    byId: values.get('by-id') === '1',
  };
}

export function writeLane({ by, model, stream, way, byId, own: { temperature, maxTokens, thinking } }: Lane): string {
  const options = [
    ...(stream ? [] : ['stream=0']),
    ...(temperature === undefined ? [] : [`temp=${temperature}`]),
    ...(maxTokens === undefined ? [] : [`max=${maxTokens}`]),
    ...(thinking === undefined ? [] : [`think=${thinking}`]),
    ...(way === 'post' ? [] : [`way=${way}`]),
    ...(byId ? ['by-id=1'] : []),
  ];
  return `${[by, ...options].join(';')}:${model}`;
}
