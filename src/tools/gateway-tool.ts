import type { ApiKey } from '../accounts/api-key.ts';
import type { Citation } from '../inference/citation.ts';
import type { ImageInput, ShownImage } from '../inference/image.ts';
import type { BuiltInTool, BuiltInToolKind, FunctionTool, ServerToolPart } from '../inference/inference-request.ts';
import type { ToolUsage } from '../inference/usage.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** A source that the model can cite by its number. */
export type Source = { readonly number: number; readonly citation: Pick<Citation, 'title' | 'citedText' | 'source'> };

/** One call of a tool by the model. */
export type ToolRun = {
  readonly callId: string;
  readonly arguments: JsonObject;
  /** The number of the first source of this call; the others count up. Numbers are unique in a reply. */
  readonly firstSource: number;
  /**
   * Whether an address occurs in the conversation, or in the results of a search for the same reply. Injected text may
   * have put other addresses into the model's output.
   */
  readonly knowsAddress: (address: string) => boolean;
  /** The images of the conversation, in order. Absent: none. */
  readonly images?: readonly ImageInput[];
  /** Shows an unfinished image to the client. Absent if its reply is not a stream. */
  readonly onPartialImage?: (number: number, image: ShownImage) => void;
  /** Aborts when the client disconnects or the time of the call is over. */
  readonly signal: AbortSignal;
};

/** The outcome of one call of a tool. */
export type ToolOutcome = {
  /** The text for the model. Each source is marked with its number by `formatSourceNumber`. */
  readonly answer: string;
  readonly sources: readonly Source[];
  /** What the client sees in addition to the input: results, and whether the tool failed. */
  readonly shown: Pick<ServerToolPart, 'results' | 'failed' | 'failure'>;
  /** The uses that are charged. Empty if nothing was used. */
  readonly usage: ToolUsage;
  /** The cost that the tool has booked in rows of its own. */
  readonly costNanoUsd?: bigint;
};

/** A built-in tool that the gateway runs for one request. The model sees a function in its place. */
export type GatewayTool = {
  readonly kind: BuiltInToolKind;
  readonly offer: FunctionTool;
  /**
   * Returns the input that the client sees when the call begins: queries, code or addresses. It never throws, because a
   * model wrote the arguments.
   */
  readonly readInput: (args: JsonObject) => readonly string[];
  /**
   * Runs the tool. It never rejects because of mistakes of the model or of third parties; the outcome describes them
   * for the model.
   */
  readonly run: (run: ToolRun) => Promise<ToolOutcome>;
  /** Releases the tool's resources for the request. Called once, when the reply has ended for any reason. */
  readonly close?: () => void;
};

/** The user for whom a tool runs, and its call, if there is one. All results belong to this user. */
export type ToolOwner = {
  readonly userName: string;
  readonly keyId: string;
  readonly callId?: string;
  /** The key that made the call: its spend limits apply to what a tool buys. Absent if no key did. */
  readonly caller?: ApiKey;
};

/**
 * Creates the tool of one request. @throws GatewayError `tool_unavailable` if it is not configured, or another refusal
 * that names the field
 */
type MakeTool<Kind extends BuiltInToolKind> = (
  tool: Extract<BuiltInTool, { readonly kind: Kind }>,
  owner: ToolOwner,
) => GatewayTool | Promise<GatewayTool>;

/** A factory for each tool that the gateway can run. */
export type ToolFactories = { readonly [Kind in BuiltInToolKind]: MakeTool<Kind> };

/** Formats a source's number, as the model reads it and as it cites it after a sentence. */
export function formatSourceNumber(number: number): string {
  return `【${number}】`;
}
