/** Draws parts of the sprite that holds all heads: to 64 tokens the root of the weight, above it a log scale of the largest weights. */
import { painter, pixelOf } from '../../core/colors';
import { GREY_ON_PLATE, colorTable } from '../../core/tables';
import { decode16, MASKED } from '../../core/tiles/code';
import type { Tile } from '../../core/tiles/tile';
import { tokenColor } from '../theme';

/** A pixel of a code, in a column of the map. */
export type ThumbPainter = (code: number, col: number) => number;

/** `grey`: columns that have no hue, where a thumbnail has a pixel for each. */
export function thumbPainter(positions: number, grey: ReadonlySet<number>): ThumbPainter {
  const short = positions <= 64;
  const paint = painter(colorTable('inferno'), short
    ? { low: 0, high: 1, curve: 'sqrt', timesEven: false, below: false, above: false }
    : { low: 1e-4, high: 1, curve: 'log', timesEven: false, below: false, above: false });
  const masked = pixelOf(tokenColor('--forbidden'));
  const greys = painter(GREY_ON_PLATE, { low: 0, high: 1, curve: 'linear', timesEven: false, below: false, above: false });
  return (code, col) => (code >= MASKED ? masked : grey.has(col) ? greys(decode16(code)) : paint(decode16(code)));
}

/** One head of the sprite. */
export function drawThumb(canvas: HTMLCanvasElement, sprite: Tile, size: number, layer: number, head: number, paint: ThumbPainter): void {
  canvas.width = size;
  canvas.height = size;
  const image = new ImageData(size, size);
  const out = new Uint32Array(image.data.buffer);
  for (let y = 0; y < size; ++y) for (let x = 0; x < size; ++x) out[y * size + x] = paint(sprite.codes[(layer * size + y) * sprite.width + head * size + x] as number, x);
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}

/** All of them with gaps between. */
export function drawSheet(canvas: HTMLCanvasElement, sprite: Tile, size: number, layers: number, heads: number, gap: number, paint: ThumbPainter): void {
  canvas.width = heads * (size + gap) - gap;
  canvas.height = layers * (size + gap) - gap;
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  for (let row = 0; row < layers * size; ++row) {
    const y = row + Math.floor(row / size) * gap;
    for (let col = 0; col < heads * size; ++col) out[y * canvas.width + col + Math.floor(col / size) * gap] = paint(sprite.codes[row * sprite.width + col] as number, col % size);
  }
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}
