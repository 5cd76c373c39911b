import assert from 'node:assert/strict';

/** Numbers calls in the order in which they are made, and finds the number of a result's call. */
export type CallNumbers = {
  readonly call: (name: string, id: string | undefined) => number;
  readonly result: (name: string | undefined, id: string | undefined) => number;
};

/** Ids distinguish calls if the format has them; otherwise results follow the order of the calls of their function. */
export function numberCalls(): CallNumbers {
  const open: { readonly number: number; readonly name: string; readonly id: string | undefined }[] = [];
  let last = 0;
  return {
    call: (name, id) => {
      last += 1;
      open.push({ number: last, name, id });
      return last;
    },
    result: (name, id) => {
      const at = open.findIndex((call) => (id === undefined || call.id === undefined ? call.name === name : call.id === id));
      const [call] = at === -1 ? [] : open.splice(at, 1);
      assert.ok(call, `the result of ${id ?? name} answers a call`);
      if (name !== undefined) assert.equal(call.name, name, 'a result names the function of its call');
      return call.number;
    },
  };
}

/** Media in the terms of the cases. */
export function describeMedia(type: string, data: string | undefined): string {
  return data === undefined ? `[${type}]` : `[${type}, ${Buffer.from(data, 'base64').length} bytes]`;
}

/** Media of a data URI, or at an address. */
export function describeUri(uri: string): string {
  const [, type = '', data = ''] = /^data:([^;,]+);base64,(.+)$/.exec(uri) ?? [];
  return type === '' ? `[${uri}]` : describeMedia(type, data);
}

export const describeCall = (number: number, name: string, args: unknown): string => `call ${number} ${name} ${JSON.stringify(args)}`;

/** Arguments that arrived as text. Invalid JSON stays text. */
export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
