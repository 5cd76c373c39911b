/**
 * The line (from 1) of a member in a text of JSON, by its JSON Pointer. Of a member that is missing, the line of the
 * innermost object that is there. Undefined if the text is no JSON up to that place.
 */
export function lineOfPointer(text: string, pointer: string): number | undefined {
  const wanted = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const offset = findOffset(text, wanted);
  return offset === undefined ? undefined : text.slice(0, offset).split('\n').length;
}

const word = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gy;

/** Walks over the tokens of the text, and keeps the path of each value. */
function findOffset(text: string, wanted: readonly string[]): number | undefined {
  let deepest: { readonly offset: number; readonly depth: number } | undefined;
  const open: { readonly isList: boolean; index: number; name: string }[] = [];
  let isName = false;
  const pathFits = (): boolean => open.length <= wanted.length && open.every((each, depth) => partOf(each) === wanted[depth]);
  const see = (offset: number): boolean => {
    if (!pathFits()) return false;
    if (deepest === undefined || open.length > deepest.depth) deepest = { offset, depth: open.length };
    return open.length === wanted.length;
  };
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    word.lastIndex = at;
    const [token] = word.exec(text) ?? [];
    if (token === undefined) return deepest?.offset;
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      if (see(at)) return at;
      open.push({ isList: token === '[', index: 0, name: '' });
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      isName = false;
    } else if (token === ',') {
      if (top?.isList === true) top.index += 1;
      isName = top?.isList === false;
    } else if (token === ':') isName = false;
    else if (isName && top !== undefined) top.name = nameOf(token);
    else if (see(at)) return at;
    at += token.length;
  }
  return deepest?.offset;
}

const partOf = ({ isList, index, name }: { readonly isList: boolean; readonly index: number; readonly name: string }): string =>
  isList ? String(index) : name;

function nameOf(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** The line that a problem of a text names: by its words, or by its place in JSON. */
export function lineOfProblem(
  text: string,
  { pointer, detail }: { readonly pointer?: string; readonly detail: string },
): number | undefined {
  const named = /\bline (\d+)/.exec(detail)?.[1];
  if (named !== undefined) return Number(named);
  if (pointer === undefined || !/^\s*\{/.test(text)) return undefined;
  return lineOfPointer(text, pointer.replace(/^\/book(?=\/|$)/, ''));
}
