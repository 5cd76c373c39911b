export type ImageFacts = { readonly mediaType: string; readonly width: number; readonly height: number };

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Reads kind and size from the header of a PNG, JPEG or GIF. Undefined for anything else, and for a truncated header.
 */
export function readImage(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length >= 24 && bytes.subarray(0, 8).equals(pngSignature)) {
    return sized('image/png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  }
  if (bytes.length >= 10 && bytes.toString('latin1', 0, 4) === 'GIF8') {
    return sized('image/gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8));
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? readJpeg(bytes) : undefined;
}

/** Walks the segments to the frame header, SOF0 to SOF15 without the tables between them (ITU-T T.81, annex B). */
function readJpeg(bytes: Buffer): ImageFacts | undefined {
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sized('image/jpeg', bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    // Fill bytes may precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function sized(mediaType: string, width: number, height: number): ImageFacts | undefined {
  return width > 0 && height > 0 ? { mediaType, width, height } : undefined;
}
