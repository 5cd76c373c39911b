const keyPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Whether a text is the key of a file. */
export function isMediaKey(key: string): boolean {
  return keyPattern.test(key);
}

/** Refuses what could lead out of a storage, or mean something to it: keys are made of letters, digits, `_` and `-` alone. @throws RangeError */
export function assertMediaKey(key: string): void {
  if (!isMediaKey(key))
    throw new RangeError('A key of a file has 1 to 128 letters, digits, "_" and "-", and begins with a letter or digit.');
}

/**
 * The key under which a storage lists a file that was begun and never finished. It has a sign that no key of a file has, so that neither can be taken for the other.
 * @param name what the storage knows it by, in letters, digits, `_` and `-`
 */
export function toUnfinishedKey(key: string, name: string): string {
  return `${key}.${name}`;
}

/** What `toUnfinishedKey` was made of; undefined for the key of a file. @throws RangeError for what is neither */
export function readUnfinishedKey(key: string): { readonly key: string; readonly name: string } | undefined {
  const [fileKey = '', name, ...rest] = key.split('.');
  assertMediaKey(fileKey);
  if (name === undefined) return undefined;
  if (rest.length > 0 || !/^[A-Za-z0-9_-]{1,2048}$/.test(name)) throw new RangeError('This is no key of an unfinished file.');
  return { key: fileKey, name };
}
