import { readFile, stat } from 'node:fs/promises';

import { isJsonObject } from '../../platform/json/json-value.ts';

/** A built file of the console: its type, and the sizes of its compressed forms in bytes. */
type Entry = { readonly type: string; readonly br?: number; readonly gz?: number };

type ConsoleFile = { readonly body: Buffer; readonly type: string; readonly encoding: 'br' | 'gzip' | undefined };

export type ConsoleFiles = {
  /**
   * A file in the smallest form that the client reads; undefined if there is none of this path.
   * @param acceptEncoding the header of the request
   */
  readonly read: (path: string, acceptEncoding: string) => Promise<ConsoleFile | undefined>;
};

/** The files of one build. Their bytes are kept after the first reading: together they have about a megabyte. */
type Build = { readonly builtMs: number; readonly entries: ReadonlyMap<string, Entry>; readonly kept: Map<string, Buffer> };

/**
 * The files that `console/build.mjs` has built. Only paths of its manifest are read, so nothing else on the disk can be
 * reached. A new build is seen at once.
 * @param folder of the built files, which need not exist
 */
export function openConsoleFiles(folder: URL): ConsoleFiles {
  const manifest = new URL('manifest.json', folder);
  let build: Build | undefined;
  async function present(): Promise<Build | undefined> {
    const found = await unlessMissing(stat(manifest));
    if (found === undefined) build = undefined;
    else if (found.mtimeMs !== build?.builtMs)
      build = { builtMs: found.mtimeMs, entries: readManifest(await readFile(manifest, 'utf8')), kept: new Map() };
    return build;
  }
  async function load(name: string, { kept }: Build): Promise<Buffer> {
    const before = kept.get(name);
    if (before !== undefined) return before;
    const bytes = await readFile(new URL(`.${name}`, folder));
    kept.set(name, bytes);
    return bytes;
  }
  return {
    read: async (path, acceptEncoding) => {
      const built = await present();
      const entry = built?.entries.get(path);
      if (built === undefined || entry === undefined) return undefined;
      const form = forms.find(({ coding, suffix }) => entry[suffix] !== undefined && accepts(acceptEncoding, coding));
      const name = form === undefined ? path : `${path}.${form.suffix}`;
      return { body: await load(name, built), type: entry.type, encoding: form?.coding };
    },
  };
}

/** The compressed forms, the smallest first. */
const forms = [
  { coding: 'br', suffix: 'br' },
  { coding: 'gzip', suffix: 'gz' },
] as const;

const accepts = (header: string, coding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', weight = ''] = part.trim().toLowerCase().split(';', 2);
    return name.trim() === coding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight);
  });

async function unlessMissing<Value>(value: Promise<Value>): Promise<Value | undefined> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The entries of a manifest by path. */
function readManifest(text: string): ReadonlyMap<string, Entry> {
  const manifest: unknown = JSON.parse(text);
  if (!isJsonObject(manifest) || !isJsonObject(manifest.files)) throw new Error('The manifest of the console cannot be read.');
  return new Map(Object.entries(manifest.files).flatMap(([path, entry]) => (isEntry(entry) ? [[path, entry]] : [])));
}

function isEntry(value: unknown): value is Entry {
  return isJsonObject(value) && typeof value.type === 'string';
}
