import type { JsonRecord, SimulatedRequest } from '../simulated-vendor.ts';

/**
 * The members of a JSON body or the fields of a form (`multipart/form-data`), whose files become data URIs. Of fields
 * with the same name the last one counts. Undefined for any other body, or a broken one; no body is an empty object.
 */
export async function readFields(request: SimulatedRequest, body: Buffer): Promise<JsonRecord | undefined> {
  if (body.length === 0) return {};
  const type = request.headers['content-type'] ?? '';
  if (/^application\/json\s*(;|$)/i.test(type)) return request.body;
  if (!/^multipart\/form-data\s*;/i.test(type)) return undefined;
  const fields: JsonRecord = {};
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) {
      fields[name] =
        typeof value === 'string' ? value : `data:${value.type};base64,${Buffer.from(await value.arrayBuffer()).toString('base64')}`;
    }
  } catch {
    // A form without its boundary or its end is a broken body.
    return undefined;
  }
  return fields;
}
