/** Drawing tiles without a GPU. Cells are whole pixels, so every pixel belongs to one code. */
import type { Lut } from './lut';

/** Codes of a tile where they stand on the canvas. */
export interface Placed {
  codes: Uint16Array<ArrayBufferLike>;
  width: number;
  height: number;
  /** Device pixels of the tile's corner on the canvas; may lie outside. */
  left: number;
  top: number;
  /** Device pixels of a bin. */
  cell: number;
}

export interface Painter {
  readonly name: 'CPU' | 'GPU';
  /** Fills the canvas with the ground and draws the tiles over it in their order. */
  paint(tiles: readonly Placed[], lut: Lut, ground: number): void;
  resize(width: number, height: number): void;
  dispose(): void;
}

export function paintTiles(out: Uint32Array, width: number, height: number, tiles: readonly Placed[], lut: Lut, ground: number): void {
  out.fill(ground);
  for (const tile of tiles) paintTile(out, width, height, tile, lut);
}

function paintTile(out: Uint32Array, width: number, height: number, tile: Placed, lut: Lut): void {
  const { cell, codes } = tile;
  const left = Math.max(0, tile.left);
  const right = Math.min(width, tile.left + tile.width * cell);
  const top = Math.max(0, tile.top);
  const bottom = Math.min(height, tile.top + tile.height * cell);
  if (left >= right || top >= bottom) return;
  let painted = -1;
  let from = 0;
  for (let y = top; y < bottom; ++y) {
    const line = Math.floor((y - tile.top) / cell);
    const at = y * width;
    if (line === painted) {
      out.copyWithin(at + left, from + left, from + right);
      continue;
    }
    painted = line;
    from = at;
    const base = line * tile.width;
    if (cell === 1) {
      for (let x = left; x < right; ++x) out[at + x] = lut[codes[base + x - tile.left] as number] as number;
      continue;
    }
    let column = Math.floor((left - tile.left) / cell);
    let until = tile.left + (column + 1) * cell;
    let pixel = lut[codes[base + column] as number] as number;
    for (let x = left; x < right; ++x) {
      if (x >= until) {
        pixel = lut[codes[base + ++column] as number] as number;
        until += cell;
      }
      out[at + x] = pixel;
    }
  }
}

/** On a canvas with a 2D context. */
export class CpuPainter implements Painter {
  readonly name = 'CPU';
  private image: ImageData;
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
    if (!context) throw new Error('this browser gives no canvas to draw on');
    this.context = context;
    this.image = context.createImageData(Math.max(1, canvas.width), Math.max(1, canvas.height));
  }

  resize(width: number, height: number): void {
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
  }

  paint(tiles: readonly Placed[], lut: Lut, ground: number): void {
    const { width, height } = this.canvas;
    if (this.image.width !== width || this.image.height !== height) this.image = this.context.createImageData(width, height);
    paintTiles(new Uint32Array(this.image.data.buffer), width, height, tiles, lut, ground);
    this.context.putImageData(this.image, 0, 0);
  }

  dispose(): void {}
}
