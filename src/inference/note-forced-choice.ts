import type { ToolChoice } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/**
 * Notes that a choice which demands the call of a function is written in words that a tool of the vendor satisfies too.
 * @param sendsVendorTool whether a tool that the vendor runs is sent beside the functions
 */
export function noteForcedChoice(choice: ToolChoice, sendsVendorTool: boolean, notes: TranslationNotes): void {
  const isOfFunctions = (choice.kind === 'required' && choice.ofFunctions === true) || (choice.kind === 'allowed' && choice.required);
  if (isOfFunctions && sendsVendorTool)
    notes.adapted('toolChoice', 'this vendor takes the use of its own tool for the call that is demanded: the reply may call no function');
}
