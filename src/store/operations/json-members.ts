/** A member of an object as it is written: with its name. */
export type WrittenMember = { readonly name: string; readonly text: string };

/**
 * The members of an object in JSON without white space, in order. Values need not be JSON, as long as quotes and
 * brackets in them are.
 */
export function membersOf(object: string): readonly WrittenMember[] {
  const members: WrittenMember[] = [];
  let [depth, begin, isText] = [0, 1, false];
  for (let at = 0; at < object.length; at += 1) {
    const character = object[at];
    if (isText) {
      if (character === '\\') at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    const isEnd = !isText && ((depth === 1 && character === ',') || (depth === 0 && character === '}'));
    if (!isEnd || at === begin) continue;
    const text = object.slice(begin, at);
    members.push({ name: nameOf(text), text });
    begin = at + 1;
  }
  return members;
}

/** Names are those of a type: none has a character that JSON escapes. */
const nameOf = (member: string): string => member.slice(1, member.indexOf('":'));
