import type { Citation } from '../../../inference/citation.ts';
import type { BlockStart } from '../../../inference/inference-event.ts';
import type { Proof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { OpenToolCall } from './write-items.ts';
import type { OpenServerTool } from './write-server-tools.ts';

export type OpenMessage = { readonly kind: 'message'; readonly id: string; readonly content: JsonObject[] };
export type OpenReasoning = { readonly kind: 'reasoning'; readonly id: string; readonly paragraphs: string[]; proof: Proof | undefined };
export type OpenTool = { readonly kind: 'tool'; readonly tool: OpenServerTool };
export type OpenCall = { readonly kind: 'call'; readonly call: OpenToolCall; text: string; proof: Proof | undefined };

/**
 * The item that is being written. It ends when the next one begins or when the reply ends, because only then is it
 * known whether a limit cut it.
 */
export type OpenItem = OpenMessage | OpenReasoning | OpenCall | OpenTool;

export type OpenBlock = {
  readonly kind: BlockStart['kind'];
  /** The text of the open part, paragraph or arguments. */
  text: string;
  /** The item to which the block belongs. Items and parts begin with their first text, so that none is empty. */
  item: OpenItem | undefined;
  partOpen: boolean;
  readonly citations: Citation[];
  proof: Proof | undefined;
};
