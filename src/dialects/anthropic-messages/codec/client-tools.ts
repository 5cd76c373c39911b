import type { FunctionTool } from '../../../inference/inference-request.ts';
import { screenToolName, screenToolParameters } from '../../../inference/screen-actions.ts';
import { countOf, meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

// Tools that the vendor defined and the client runs. The vendor's models know their arguments; other models get this
// schema.

const shellParameters: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The command to run.' },
    restart: { type: 'boolean', description: 'True to start a new shell instead.' },
  },
};

const editorParameters: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
    path: { type: 'string', description: 'The absolute path of the file or folder.' },
    view_range: { type: 'array', items: { type: 'integer' }, description: 'The first and last line to view; -1 for the end.' },
    file_text: { type: 'string', description: 'The content of the file to create.' },
    old_str: { type: 'string', description: 'The text to replace, which must occur exactly once in the file.' },
    new_str: { type: 'string', description: 'The new text, or the text to insert.' },
    insert_line: { type: 'integer', description: 'The line after which to insert.' },
    insert_text: { type: 'string', description: 'The text to insert.' },
  },
  required: ['command', 'path'],
};

/** Reads a tool that the vendor defined and the client runs. Undefined for other types. */
export function decodeClientTool(tool: JsonObject, type: string, path: string): FunctionTool | undefined {
  const carried = { kind: 'function', wire: tool, path } as const;
  if (/^computer_\d/.test(type)) {
    const screen = { width: countOf(tool.display_width_px) ?? 1024, height: countOf(tool.display_height_px) ?? 768 };
    const description = `Controls the screen of a computer, which is ${screen.width} pixels wide and ${screen.height} high.`;
    return { ...carried, name: screenToolName, description, parameters: screenToolParameters, screen };
  }
  if (/^bash_\d/.test(type)) {
    return { ...carried, name: 'bash', description: 'Runs a command in a shell that stays open.', parameters: shellParameters };
  }
  if (!/^text_editor_\d/.test(type)) return undefined;
  const name = typeof tool.name === 'string' ? tool.name : 'str_replace_based_edit_tool';
  return { ...carried, name, description: 'Views, creates and edits text files.', parameters: editorParameters };
}

/** The beta with which the vendor accepts each of its tools for screens. */
const betaByScreenTool: Readonly<Record<string, string>> = {
  computer_20241022: 'computer-use-2024-10-22',
  computer_20250124: 'computer-use-2025-01-24',
  computer_20251124: 'computer-use-2025-11-24',
};

/** Lists the betas that the written tools require. */
export function listBetas(tools: readonly JsonObject[]): readonly string[] {
  return [...new Set(tools.flatMap(({ type }) => meaningOf(type, betaByScreenTool) ?? []))];
}
