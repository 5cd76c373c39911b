import type { InferenceRequest, Part } from '../../../../inference/inference-request.ts';
import type { Source } from '../../../../tools/gateway-tool.ts';
import { KnownAddresses } from '../../../../tools/known-addresses.ts';

function addPart(known: KnownAddresses, part: Part, isModels: boolean): void {
  switch (part.kind) {
    case 'text':
      // What a model writes it may have been talked into; what it cites, a search has found.
      if (!isModels) known.addText(part.text);
      for (const { source } of part.citations ?? []) if (source.kind === 'url') known.add(source.url);
      return;
    case 'media':
      if (part.source.kind === 'url') known.add(part.source.url);
      if (part.source.kind === 'text') known.addText(part.source.text);
      return;
    case 'tool-result':
      for (const one of part.content) addPart(known, one, false);
      return;
    case 'server-tool':
      for (const { url } of part.results ?? []) if (url !== undefined) known.add(url);
      return;
    case 'refusal':
    case 'reasoning':
    case 'tool-call':
    case 'vendor':
      return;
  }
}

/**
 * The addresses of a conversation that its client brought or an earlier search found. Gathered when somebody asks: most conversations are never asked.
 * @param request as it was decoded: later what earlier searches read stands in it as words
 */
export function gatherAddresses({ instructions, turns }: Pick<InferenceRequest, 'instructions' | 'turns'>): (address: string) => boolean {
  let known: KnownAddresses | undefined;
  const gather = (): KnownAddresses => {
    const made = new KnownAddresses();
    for (const part of instructions) addPart(made, part, false);
    for (const { role, parts } of turns) for (const part of parts) addPart(made, part, role === 'assistant');
    return made;
  };
  return (address) => (known ??= gather()).has(address);
}

/** Whether an address is one of those that tools of the call have found. */
export function isFound(sources: Iterable<Source>, address: string): boolean {
  const found = new KnownAddresses();
  for (const { citation } of sources) if (citation.source.kind === 'url') found.add(citation.source.url);
  return found.has(address);
}
