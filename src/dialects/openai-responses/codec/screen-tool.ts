import type { FunctionTool, MediaPart, Screen, ToolCallPart, ToolResultPart } from '../../../inference/inference-request.ts';
import { screenToolName, screenToolParameters } from '../../../inference/screen-actions.ts';
import { countOf, filledText, membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { readMediaUrl } from '../../openai-media.ts';
import { decodeAction } from './screen-actions.ts';

/** Whether a tool of this type controls a screen. */
export const isScreenType = (type: string): boolean => type === 'computer_use_preview' || type === 'computer_use' || type === 'computer';

/** The vendor's newer tool does not state the size of the screen. */
const usualScreen = { width: 1024, height: 768 };

function readScreen(tool: JsonObject): Screen {
  const environment = filledText(tool.environment);
  return {
    width: countOf(tool.display_width) ?? usualScreen.width,
    height: countOf(tool.display_height) ?? usualScreen.height,
    ...(environment === undefined ? {} : { environment }),
  };
}

/**
 * Reads the tool that controls a screen. A model of a vendor without such a tool receives a function with the same
 * effect.
 */
export function decodeScreenTool(tool: JsonObject, path: string): FunctionTool {
  const screen = readScreen(tool);
  const where = screen.environment === undefined ? '' : ` of a computer (${screen.environment})`;
  return {
    kind: 'function',
    name: screenToolName,
    description: `Controls the screen${where}, which is ${screen.width} pixels wide and ${screen.height} high. Every use returns a screenshot.`,
    parameters: screenToolParameters,
    screen,
    wire: tool,
    path,
  };
}

const environments = ['windows', 'mac', 'linux', 'ubuntu', 'browser'];

/** Writes the vendor's own tool. */
export function encodeScreenTool({ width, height, environment = 'browser' }: Screen): JsonObject {
  const supported = environments.includes(environment) ? environment : 'browser';
  return { type: 'computer_use_preview', display_width: width, display_height: height, environment: supported };
}

/** Reads a screen action. */
export function decodeScreenCall(item: JsonObject): Pick<ToolCallPart, 'id' | 'name' | 'arguments' | 'wire'> {
  return {
    id: textOf(item.call_id) ?? textOf(item.id) ?? '',
    name: screenToolName,
    arguments: JSON.stringify(decodeAction(membersOf(item.action))),
    wire: item,
  };
}

/** Reads the screenshot that a screen action returned. */
export function decodeScreenResult(item: JsonObject, path: string): ToolResultPart {
  const { image_url: address, file_id: fileId } = membersOf(item.output);
  const url = filledText(address);
  const file = filledText(fileId);
  const source: MediaPart['source'] | undefined =
    url !== undefined ? readMediaUrl(url) : file === undefined ? undefined : { kind: 'vendor-file', id: file };
  const content: readonly MediaPart[] = source === undefined ? [] : [{ kind: 'media', media: 'image', source, path: `${path}.output` }];
  return { kind: 'tool-result', callId: textOf(item.call_id) ?? '', content, isError: false, path, wire: item };
}
