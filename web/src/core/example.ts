/** A run that needs no server: what was computed when the page was built, answered in the server's own form. */
import { fromBase64 } from './codec';
import type { Fetch } from './api';
import { MASKED, decode16 } from './tiles/code';
import { crc32 } from './tiles/tile';

export const EXAMPLE = 'example';

export interface Examples {
  sentence: {
    model: string; text: string; labels: unknown[]; special: number[]; layers: number; heads: number;
    start: { layer: number; head: number; row: number; column: number }; maps: string;
  };
  long: { model: string; tokens: number; layer: number; head: number; bins: number; places: string };
}

/** The weights of a head, line by line. */
export function exampleWeights({ sentence }: Examples): (layer: number, head: number | 'mean' | 'max') => Float32Array {
  const codes = new Uint16Array(fromBase64(sentence.maps).buffer);
  const cells = sentence.labels.length ** 2;
  const one = (layer: number, head: number) => Float32Array.from(codes.subarray((layer * sentence.heads + head) * cells, (layer * sentence.heads + head + 1) * cells), (code) => decode16(code));
  return (layer, head) => {
    if (typeof head === 'number') return one(layer, head);
    const all = Array.from({ length: sentence.heads }, (_, each) => one(layer, each));
    return Float32Array.from({ length: cells }, (_, i) => {
      const values = all.map((map) => map[i] as number);
      return head === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0) / values.length;
    });
  };
}

function tile(encoding: number, rows: number, cols: number, payload: Uint8Array<ArrayBuffer>): ArrayBuffer {
  const bytes = new Uint8Array(32 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x54564f46, true);
  view.setUint8(4, 1);
  view.setUint8(5, encoding);
  view.setUint16(16, rows, true);
  view.setUint16(18, cols, true);
  view.setFloat32(20, 32, true);
  view.setFloat32(24, 1, true);
  view.setUint32(28, crc32(payload), true);
  bytes.set(payload, 32);
  return bytes.buffer;
}

/** Answers what a page asks of this one run. */
export function exampleFetch(examples: Examples): Fetch {
  const { sentence } = examples;
  const weightsOf = exampleWeights(examples);
  const size = sentence.labels.length;
  const json = (value: unknown) => new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } });
  const facts = {
    run: EXAMPLE, model: { name: sentence.model }, input: { text: sentence.text }, sort: 'text',
    axes: [{ name: 'tokens', positions: size, source: sentence.text, special: sentence.special.map((position) => ({ position })) }],
    sites: [{
      name: 'self', layers: Array.from({ length: sentence.layers }, (_, i) => i), heads: sentence.heads, rows: size, columns: size, row_axis: 'tokens',
      column_axis: 'tokens', mask: 'none', visible: Array.from({ length: sentence.layers }, () => ({ offset: 0 })), of: ['weight', 'times-even'],
    }],
  };
  const headOf = (text: string) => (text === 'mean' || text === 'max' ? text : Number(text));

  return async (address) => {
    const [, , , , site, what, layer, head, ...rest] = new URL(address, 'http://example').pathname.split('/');
    if (site === undefined) return json(facts);
    if (what === 'labels') return json({ axis: 'tokens', labels: sentence.labels });
    if (what === 'sprite') {
      const out = new Uint8Array(sentence.layers * sentence.heads * size * size * 2);
      const codes = new Uint16Array(fromBase64(sentence.maps).buffer);
      const wide = new Uint16Array(out.buffer);
      for (let map = 0; map < sentence.layers * sentence.heads; ++map) {
        const [l, h] = [Math.floor(map / sentence.heads), map % sentence.heads];
        for (let y = 0; y < size; ++y) for (let x = 0; x < size; ++x) wide[(l * size + y) * sentence.heads * size + h * size + x] = codes[(map * size + y) * size + x] ?? MASKED;
      }
      return new Response(tile(0, sentence.layers * size, sentence.heads * size, out));
    }
    const weights = weightsOf(Number(layer), headOf(head ?? '0'));
    if (what === 'tiles') return new Response(tile(3, size, size, new Uint8Array(weights.buffer as ArrayBuffer)));
    const index = Number(rest[0]);
    if (what === 'row') return new Response(weights.slice(index * size, (index + 1) * size));
    if (what === 'column') return new Response(Float32Array.from({ length: size }, (_, row) => weights[row * size + index] as number));
    if (what === 'cell') return json({ row: index, column: Number(rest[1]), weight: weights[index * size + Number(rest[1])] });
    return new Response(JSON.stringify({ error: { kind: 'not found', message: 'the example has no such thing' } }), { status: 404 });
  };
}
