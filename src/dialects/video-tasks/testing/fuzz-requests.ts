const durations = ['5', '15', '1', '"15"', '"5"', '1e1', '15.0', '1.5e1', '0.5e1', '16', '0', '-1', '5.5', '15.0000000000000001', '"15.0"', '" 5"', 'null', 'true', '[5]', '1e400', '9007199254740993', '500e-2', '4', '8', '12', '"0x5"', '{"v":5}']; // prettier-ignore
const resolutions = ['"480p"', '"720p"', '"1080p"', '"720P"', '"4k"', 'null', '720', '"\\u003720p"', '["720p"]'];
const ratios = ['"16:9"', '"1:1"', '"9:16"', '"2:3"', '"5:1"', 'null', '"1\\u003a1"'];
const sizes = ['"1280x720"', '"720x1280"', '"854x480"', '"1920x1080"', '"1x1"', 'null'];
const pictures = ['"https://a.example/1.png"', '"data:image/png;base64,iVBORw0KGgo="', '{"url":"https://a.example/2.png"}', '{"image_url":{"url":"https://a.example/3.png"}}', '"file:///etc/passwd"', '"gopher://a.example"', '"data:text/html;base64,PGI+"', '"data:image/png,x"', '7', '{}', 'null', '{"file_id":"file_1"}']; // prettier-ignore
const videos = ['"https://a.example/v.mp4"', '{"url":"https://a.example/v.mp4"}', '"ftp://a.example/v.mp4"', 'null', '""', '[]'];
const lists = ['[]', 'null', '"https://a.example/1.png"', '[null]'];
const others = ['12345678901234567890', '0.1000000000000000055511151231257827', '"x"', '{"deep":[1e2,{"duration":99}]}', 'true', 'null', '-0', '"\\ud83d\\ude00"']; // prettier-ignore

const keys: readonly (readonly [names: readonly string[], values: readonly string[]])[] = [
  [['duration', 'seconds', 'Duration', 'DURATION', 'dur\\u0061tion', 'Seconds', '\u017feconds', 'duration_'], durations],
  [['duration', 'duration', 'seconds'], durations],
  [['resolution', 'Resolution', 'r\\u0065solution'], resolutions],
  [['aspect_ratio', 'aspectRatio', 'aspect-ratio', 'AspectRatio'], ratios],
  [['size', 'Size'], sizes],
  [['image', 'image_url', 'imageUrl', 'Image', 'input_reference'], pictures],
  [['images', 'reference_images', 'referenceImages', 'Images', 'image_urls'], lists],
  [['video', 'video_url', 'videoUrl', 'Video'], videos],
  [
    ['model', 'Model', 'mod\\u0065l'],
    ['"expensive"', '"cheap"', 'null', '7'],
  ],
  [
    ['prompt', 'user', 'User'],
    ['"other"', 'null', '7'],
  ],
  [['seed', 'negative_prompt', 'fps', '__proto__', 'constructor', 'metadata', 'callback_url', 'generate_audio', 'n\\u0061me'], others],
];

const pick = <Item>(random: () => number, items: readonly Item[], otherwise: Item): Item =>
  items[Math.floor(random() * items.length)] ?? otherwise;

function valueFor(random: () => number, values: readonly string[]): string {
  if (values !== lists || random() < 0.2) return pick(random, values, 'null');
  return `[${Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(random, pictures.slice(0, random() < 0.9 ? 4 : 12), '7')).join(',')}]`;
}

function someMembers(random: () => number, countMax: number): string[] {
  return Array.from({ length: Math.floor(random() * (countMax + 1)) }, () => {
    const [names, values] = pick(random, keys, [[], []]);
    // Mostly valid values, so that most requests reach an upstream.
    return `"${pick(random, names, 'seed')}":${random() < 0.6 ? pick(random, values.slice(0, 3), 'null') : valueFor(random, values)}`;
  });
}

/**
 * A request body that tries to cost more than it declares: every spelling of a field, at the top and in the metadata.
 * It is not always valid and may contain duplicate keys.
 */
export function writeHostileRequest(random: () => number): string {
  const members = ['"prompt":"p"', '"model":"cheap"', ...someMembers(random, 3)];
  if (random() < 0.8) members.push(`"metadata":{${someMembers(random, 4).join(',')}}`);
  const first = Math.floor(random() * members.length);
  return `{${[...members.slice(first), ...members.slice(0, first)].join(',')}}`;
}
