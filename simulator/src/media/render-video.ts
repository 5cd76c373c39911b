import { createPictureEncoder } from './h264-encoder.ts';
import { createPicture, drawText, fillRectangle, textWidth, type Colour, type Picture, type Rectangle } from './picture.ts';

/** The content of a simulated video. The same values give the same images. */
export type VideoDrawing = {
  readonly model: string;
  readonly prompt: string;
  /** Further inputs of the vendor, one line each, such as an image or the video of a remix. */
  readonly inputs: readonly string[];
  /** In pixels, even, 64 to 4096. */
  readonly width: number;
  readonly height: number;
  /** Number of frames, 1 to 1,440, at 24 per second. */
  readonly frames: number;
};

export const framesPerSecond = 24;

const background: Colour = [40, 150, 112];
const band: Colour = [90, 100, 170];
const barColour: Colour = [150, 44, 142];
const brightLuma = 235;
const dimLuma = 180;
const promptLinesMax = 8;
/** Frames between two yields to the event loop: other calls wait for a few milliseconds at most. */
const framesATurn = 48;
const cachedMax = 64;
const cachedBytesMax = 67_108_864;

const cache = new Map<string, Promise<Uint8Array>>();
const sizes = new Map<string, number>();

/** Renders a video as an mp4 file (H.264, index first), which is cached for the next identical order. */
export function renderVideo(drawing: VideoDrawing): Promise<Uint8Array> {
  const key = JSON.stringify(drawing);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const rendered = render(drawing).then((file) => {
    if (cache.has(key)) sizes.set(key, file.length);
    forgetOldest();
    return file;
  });
  cache.set(key, rendered);
  return rendered;
}

function forgetOldest(): void {
  let bytes = sizes.values().reduce((sum, size) => sum + size, 0);
  for (const [key, size] of sizes) {
    if (sizes.size <= cachedMax && bytes <= cachedBytesMax) return;
    cache.delete(key);
    sizes.delete(key);
    bytes -= size;
  }
}

async function render(drawing: VideoDrawing): Promise<Uint8Array> {
  // Loaded by the first video, because its 70 files are a tenth of the start of a program that serves none.
  const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output } = await import('mediabunny');
  const { width, height, frames } = drawing;
  const encoder = createPictureEncoder(width, height, framesPerSecond);
  const source = new EncodedVideoPacketSource('avc');
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  output.addVideoTrack(source, { frameRate: framesPerSecond });
  output.setMetadataTags({ title: `Simulated video of ${drawing.model}`, comment: 'Made by a simulator. No model saw the prompt.' });
  await output.start();
  const layout = layOut(drawing);
  const decoderConfig = { codec: encoder.codec, codedWidth: width, codedHeight: height, description: encoder.configuration };
  for (let frame = 0; frame < frames; frame++) {
    const data = encode(frame);
    const packet = new EncodedPacket(data, frame === 0 ? 'key' : 'delta', frame / framesPerSecond, 1 / framesPerSecond);
    await source.add(packet, frame === 0 ? { decoderConfig } : undefined);
    if (frame % framesATurn === framesATurn - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  await output.finalize();
  if (target.buffer === null) throw new Error('the muxer returned no file');
  return new Uint8Array(target.buffer);

  function encode(frame: number): Uint8Array {
    if (frame === 0) return encoder.keyFrame(layout.picture);
    if (frame % framesPerSecond !== 0) return encoder.nextFrame(layout.picture);
    layout.drawClock(frame);
    return encoder.nextFrame(layout.picture, layout.clock);
  }
}

type Layout = { readonly picture: Picture; readonly clock: Rectangle; readonly drawClock: (frame: number) => void };

/** Draws the constant part, and returns the position of the clock. */
function layOut(drawing: VideoDrawing): Layout {
  const { width, height, frames } = drawing;
  const picture = createPicture(width, height, background);
  const scale = Math.max(1, Math.floor(Math.min(width, height) / 160));
  const line = scale * 10;
  const left = scale * 4;
  const perLine = Math.max(1, Math.floor((width - left * 2) / textWidth(1, scale)));
  const headHeight = scale * 22;
  fillRectangle(picture, { left: 0, top: 0, width, height: headHeight }, band);
  drawText(picture, 'SIMULATED', { left, top: scale * 4, scale: scale * 2, luma: brightLuma });
  const clock = { left: 0, top: height - scale * 26, width, height: scale * 26 };
  const rows = Math.max(0, Math.floor((clock.top - headHeight - scale * 4) / line));
  const facts = [`${drawing.model}`, `${width}x${height} ${(frames / framesPerSecond).toFixed(2)} s`, ...drawing.inputs];
  const factLines = facts.flatMap((fact) => wrap(fact, perLine, 2)).slice(0, rows);
  const promptRows = Math.min(promptLinesMax, rows - factLines.length - 1);
  const promptLines = promptRows < 1 ? [] : wrap(drawing.prompt, perLine, promptRows);
  let top = headHeight + scale * 4;
  for (const [index, text] of [...factLines, '', ...promptLines].entries()) {
    drawText(picture, text, { left, top, scale, luma: index < factLines.length ? dimLuma : brightLuma });
    top += line;
  }
  const drawClock = (frame: number): void => {
    fillRectangle(picture, clock, background);
    const text = `${clockTime(frame)} / ${clockTime(frames)}`;
    const clockScale = textWidth(text.length, scale * 2) <= width - left ? scale * 2 : scale;
    drawText(picture, text, { left, top: clock.top, scale: clockScale, luma: brightLuma });
    const done = Math.round(((width - left * 2) * Math.min(frames, frame + framesPerSecond)) / frames);
    fillRectangle(picture, { left, top: height - scale * 8, width: done, height: scale * 4 }, barColour);
  };
  drawClock(0);
  return { picture, clock, drawClock };
}

function clockTime(frame: number): string {
  const seconds = Math.floor(frame / framesPerSecond);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}

/**
 * Breaks a text between words into lines of this many characters, and long words anywhere; a text that is too long ends
 * with dots.
 */
function wrap(text: string, perLine: number, linesMax: number): readonly string[] {
  const lines: string[] = [];
  let line: readonly string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    let rest: readonly string[] = Array.from(word);
    if (line.length > 0 && line.length + 1 + rest.length > perLine) {
      lines.push(line.join(''));
      line = [];
    }
    if (line.length > 0) line = [...line, ' '];
    for (; rest.length > perLine - line.length && lines.length <= linesMax; rest = rest.slice(perLine))
      lines.push(rest.slice(0, perLine).join(''));
    line = [...line, ...rest];
    if (lines.length > linesMax) break;
  }
  if (line.length > 0) lines.push(line.join(''));
  if (lines.length <= linesMax) return lines;
  const cut = lines.slice(0, linesMax);
  return [...cut.slice(0, -1), `${(cut.at(-1) ?? '').slice(0, Math.max(0, perLine - 3))}...`];
}
