import type { Citation } from '../../../inference/citation.ts';
import type { BlockStart } from '../../../inference/inference-event.ts';
import type { Proof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { BegunCall } from './write-items.ts';
import type { BegunTool } from './write-server-tools.ts';

export type OpenMessage = { readonly kind: 'message'; readonly id: string; readonly content: JsonObject[] };
export type OpenReasoning = { readonly kind: 'reasoning'; readonly id: string; readonly paragraphs: string[]; proof: Proof | undefined };
export type OpenTool = { readonly kind: 'tool'; readonly tool: BegunTool };
export type OpenCall = { readonly kind: 'call'; readonly call: BegunCall; text: string; proof: Proof | undefined };

/**
 * The item that is being written. It is done when the next one begins or the reply ends: only then is it known whether
 * the limit cut it.
 */
export type OpenItem = OpenMessage | OpenReasoning | OpenCall | OpenTool;

export type OpenBlock = {
  readonly kind: BlockStart['kind'];
  /** The text of the part, of the paragraph or of the arguments that is being written. */
  text: string;
  /** The item that the block writes to. Items and parts begin with their first text, so that nothing is empty. */
  item: OpenItem | undefined;
  partOpen: boolean;
  readonly citations: Citation[];
  proof: Proof | undefined;
};
