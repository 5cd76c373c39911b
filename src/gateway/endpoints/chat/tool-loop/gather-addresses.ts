import type { InferenceRequest, Part } from '../../../../inference/inference-request.ts';
import type { Source } from '../../../../tools/gateway-tool.ts';
import { KnownAddresses } from '../../../../tools/known-addresses.ts';

function addPart(addresses: KnownAddresses, part: Part, isModels: boolean): void {
  switch (part.kind) {
    case 'text':
      // A model may have been talked into an address that it writes. An address that it cites was found by a search.
      if (!isModels) addresses.addText(part.text);
      for (const { source } of part.citations ?? []) if (source.kind === 'url') addresses.add(source.url);
      return;
    case 'media':
      if (part.source.kind === 'url') addresses.add(part.source.url);
      if (part.source.kind === 'text') addresses.addText(part.source.text);
      return;
    case 'tool-result':
      for (const piece of part.content) addPart(addresses, piece, false);
      return;
    case 'server-tool':
      for (const { url } of part.results ?? []) if (url !== undefined) addresses.add(url);
      return;
    case 'refusal':
    case 'reasoning':
    case 'tool-call':
    case 'vendor':
      return;
  }
}

/**
 * The addresses of a conversation that its client sent or an earlier search found. They are collected at the first
 * query, because most conversations never need them.
 * @param request the decoded request: later, results of earlier searches become plain text
 */
export function gatherAddresses({ instructions, turns }: Pick<InferenceRequest, 'instructions' | 'turns'>): (address: string) => boolean {
  let addresses: KnownAddresses | undefined;
  const gather = (): KnownAddresses => {
    const collected = new KnownAddresses();
    for (const part of instructions) addPart(collected, part, false);
    for (const { role, parts } of turns) for (const part of parts) addPart(collected, part, role === 'assistant');
    return collected;
  };
  return (address) => (addresses ??= gather()).has(address);
}

/** Whether tools of the call have found an address. */
export function isFound(sources: Iterable<Source>, address: string): boolean {
  const found = new KnownAddresses();
  for (const { citation } of sources) if (citation.source.kind === 'url') found.add(citation.source.url);
  return found.has(address);
}
