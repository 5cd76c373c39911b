export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
export const asList = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const asCount = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** The interfaces of chats. */
export type InterfaceId = 'messages' | 'responses' | 'generate-content' | 'chat-completions';

/** A picture of a request. In texts that people see and edit a short mark stands for its bytes. */
export type Picture = { readonly name: string; readonly mediaType: string; readonly mark: string };

/** A call of a tool that a model asks for. `arguments` is JSON as the model wrote it. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** A part of a conversation, which any interface can write. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly pictures: readonly Picture[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** The reply in the words of its interface, which has proofs of thoughts that no other form has; only of whole ones. */
      readonly spoken?: { readonly by: InterfaceId; readonly content: Json; readonly id?: string | undefined };
    }
  | { readonly role: 'answers'; readonly answers: readonly { readonly id: string; readonly name: string; readonly output: string }[] };

/** A function that the model may call. */
export type Tool = { readonly name: string; readonly description: string; readonly parameters: JsonObject };

export type Thinking = 'low' | 'medium' | 'high';
/** Tokens for thoughts, in interfaces that take a number of them. */
export const thoughtTokens: Readonly<Record<Thinking, number>> = { low: 1024, medium: 4096, high: 16_384 };

/** A request of a chat before it is written for an interface. What is absent is left to the model. */
export type Wish = {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** The JSON Schema that the reply has to fit. */
  readonly schema?: JsonObject | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly thinking?: Thinking | undefined;
  readonly stream: boolean;
  /** Of Responses: the response goes on without its client. */
  readonly background?: boolean;
  /** Of Responses: only what followed the last stored response is sent, with its id. */
  readonly byId?: boolean;
};

export type ReplyUsage = {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly thought: number | undefined;
  readonly cached: number | undefined;
};

/** A reply as far as it has come. */
export type Reply = {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly ToolCall[];
  /** Pictures that the model has made, as data addresses. */
  readonly pictures: readonly string[];
  /** Why it ended, in the words of the interface; undefined while it goes on. */
  readonly stop: string | undefined;
  readonly usage: ReplyUsage | undefined;
  /** An error in the middle of a stream, in the words of the interface. */
  readonly error: Json | undefined;
  /** What a next request repeats. */
  readonly content: Json;
  /** The id of a reply that the vendor or the gateway keeps. */
  readonly id?: string | undefined;
};

/** One event of a stream. */
export type StreamEvent = { readonly event: string | undefined; readonly data: string };

/** Reads a stream of an interface, event by event. */
type ReplyReader = { readonly push: (event: StreamEvent) => void; readonly read: () => Reply };

/** How one interface writes requests and replies. Pure. */
export type ChatInterface = {
  readonly id: InterfaceId;
  readonly title: string;
  /** Its name in the books. */
  readonly book: string;
  /** The official SDK that speaks it. */
  readonly sdk: 'anthropic' | 'openai' | 'genai';
  readonly headers: Readonly<Record<string, string>>;
  readonly pathOf: (wish: Pick<Wish, 'model' | 'stream'>) => string;
  readonly encode: (wish: Wish) => JsonObject;
  readonly readWhole: (body: Json) => Reply;
  readonly createReader: () => ReplyReader;
};

export const emptyReply: Reply = {
  text: '',
  thought: '',
  calls: [],
  pictures: [],
  stop: undefined,
  usage: undefined,
  error: undefined,
  content: null,
};

/** The data of an event as JSON; undefined for what is not JSON, such as the end mark of chat completions. */
export function dataOf({ data }: StreamEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON: the list of events shows it as it is.
    return undefined;
  }
}

/** JSON text of arguments as a value; what is not JSON is passed on as the text it is. */
export function argumentsOf({ arguments: text }: ToolCall): Json {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    // A model may write broken JSON.
    return text;
  }
}

/** Members whose value is defined. */
export function withDefined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
