import type { ToolChoice } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/**
 * Adds a note if the client requires the call of a function, but in this dialect the use of a vendor's tool also
 * satisfies the choice.
 * @param sendsVendorTool whether a tool that the vendor runs is sent beside the functions
 */
export function noteForcedChoice(choice: ToolChoice, sendsVendorTool: boolean, notes: TranslationNotes): void {
  const isOfFunctions = (choice.kind === 'required' && choice.ofFunctions === true) || (choice.kind === 'allowed' && choice.required);
  if (isOfFunctions && sendsVendorTool)
    notes.adapted('toolChoice', 'this vendor accepts the use of its own tool as the required call: the reply may call no function');
}
