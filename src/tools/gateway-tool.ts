import type { ApiKey } from '../accounts/api-key.ts';
import type { Citation } from '../inference/citation.ts';
import type { ImageInput, ShownImage } from '../inference/image.ts';
import type { BuiltInTool, BuiltInToolKind, FunctionTool, ServerToolPart } from '../inference/inference-request.ts';
import type { ToolUsage } from '../inference/usage.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** A source that the model may name in its answer, by its number. */
export type Source = { readonly number: number; readonly citation: Pick<Citation, 'title' | 'citedText' | 'source'> };

/** One call of a tool by the model. */
export type ToolRun = {
  readonly callId: string;
  readonly arguments: JsonObject;
  /** The number of the first source that it finds; the others count up. They are unique in a reply. */
  readonly firstSource: number;
  /** Whether an address stands in the conversation, or came out of a search of the same reply. Others may have been talked into the model. */
  readonly knowsAddress: (address: string) => boolean;
  /** The images of the conversation, in order. Absent: none. */
  readonly images?: readonly ImageInput[];
  /** Shows an unfinished image to the client. Absent if its reply is not a stream. */
  readonly onPartialImage?: (number: number, image: ShownImage) => void;
  /** Aborts when the client has left or the time of the call is over. */
  readonly signal: AbortSignal;
};

/** What one call of a tool brought. */
export type ToolOutcome = {
  /** What the model reads. Each source stands there with its number as `formatSourceNumber` writes it. */
  readonly answer: string;
  readonly sources: readonly Source[];
  /** What the client is shown besides the input: findings, and whether it failed. */
  readonly shown: Pick<ServerToolPart, 'results' | 'failed' | 'failure'>;
  /** What is charged. Empty where nothing was done that costs. */
  readonly usage: ToolUsage;
  /** What the tool has booked in rows of its own. */
  readonly costNanoUsd?: bigint;
};

/** A built-in tool as the gateway runs it for one request: the model is offered a function in its place. */
export type GatewayTool = {
  readonly kind: BuiltInToolKind;
  readonly offer: FunctionTool;
  /** What the client is shown when the call begins: queries, code or addresses. Never throws; arguments come from a model. */
  readonly readInput: (args: JsonObject) => readonly string[];
  /** Does the work. Never rejects for what the model or the world did wrong: the outcome says so in words for the model. */
  readonly run: (run: ToolRun) => Promise<ToolOutcome>;
  /** Gives up what the tool holds for the request. Called once, when the reply has ended, however it ended. */
  readonly close?: () => void;
};

/** For whom a tool is made, and for which call, where it is for one. Whatever it finds is this user's. */
export type ToolOwner = {
  readonly userName: string;
  readonly keyId: string;
  readonly callId?: string;
  /** The key that made the call: its spend limits apply to what a tool buys. Absent if no key did. */
  readonly caller?: ApiKey;
};

/** Makes the tool of one request. @throws GatewayError `tool_unavailable` where it is not configured, or another refusal that names the field */
type MakeTool<Kind extends BuiltInToolKind> = (
  tool: Extract<BuiltInTool, { readonly kind: Kind }>,
  owner: ToolOwner,
) => GatewayTool | Promise<GatewayTool>;

/** The tools that the gateway can run. */
export type ToolFactories = { readonly [Kind in BuiltInToolKind]: MakeTool<Kind> };

/** How a source's number stands in what the model reads, and in what it writes behind a sentence that rests on it. */
export function formatSourceNumber(number: number): string {
  return `【${number}】`;
}
