/** Where a long map is looked at: in bins of a power of two, each a whole number of device pixels. Nothing here knows of a page. */
import { TILE } from './tiles/tile';

export interface MapShape {
  rows: number;
  cols: number;
}

/** One step of zooming: bins of 2^level tokens, `cell` device pixels each. */
export interface ZoomStep {
  level: number;
  cell: number;
}

export interface Viewport extends ZoomStep {
  /** The first row and column in view, in tokens; a multiple of the bin. */
  row: number;
  col: number;
}

export interface TileAt {
  level: number;
  /** Counted in tiles. */
  y: number;
  x: number;
}

const CELLS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 44];
export const NUMBERS_FROM = 40;
export const LINES_FROM = 12;

export function binOf({ level }: ZoomStep): number {
  return 2 ** level;
}

export function tileKey({ level, y, x }: TileAt): string {
  return `${level}/${y}/${x}`;
}

/** All of the map, in the smallest bins that fit. `ratio`: device pixels in one of the page. */
export function fitting(shape: MapShape, width: number, height: number, ratio: number): ZoomStep {
  const least = Math.max(1, Math.round(ratio));
  const fits = (level: number, cell: number) =>
    Math.ceil(shape.cols / 2 ** level) * cell <= width && Math.ceil(shape.rows / 2 ** level) * cell <= height;
  // Tiles end where one holds the whole map.
  const last = Math.max(0, Math.ceil(Math.log2(Math.max(shape.rows, shape.cols) / TILE)));
  let level = 0;
  while (level < last && !fits(level, least)) ++level;
  let cell = least;
  while (fits(level, cell + 1) && cell < (level > 0 ? 2 * least - 1 : 44 * least)) ++cell;
  return { level, cell };
}

/** From all of the map to the largest cells. */
export function steps(fit: ZoomStep, ratio: number): ZoomStep[] {
  const least = Math.max(1, Math.round(ratio));
  const list = [fit];
  for (let level = fit.level - 1; level >= 0; --level) list.push({ level, cell: fit.cell });
  for (const cell of CELLS) if (cell * least > fit.cell) list.push({ level: 0, cell: cell * least });
  return list;
}

export function stepIndex(list: readonly ZoomStep[], step: ZoomStep): number {
  const size = (each: ZoomStep) => each.cell / 2 ** each.level;
  let best = 0;
  list.forEach((each, i) => {
    if (Math.abs(Math.log(size(each) / size(step))) < Math.abs(Math.log(size(list[best] as ZoomStep) / size(step)))) best = i;
  });
  return best;
}

/** How many bins there is room for, and how many there are. */
export function binsIn(view: ZoomStep, shape: MapShape, width: number, height: number): { across: number; down: number } {
  const bin = binOf(view);
  return {
    across: Math.min(Math.floor(width / view.cell), Math.ceil(shape.cols / bin)),
    down: Math.min(Math.floor(height / view.cell), Math.ceil(shape.rows / bin)),
  };
}

/** The view with its corner on a bin and inside the map. */
export function clamped(view: Viewport, shape: MapShape, width: number, height: number): Viewport {
  const bin = binOf(view);
  const { across, down } = binsIn(view, shape, width, height);
  const inside = (place: number, bins: number, size: number) =>
    Math.max(0, Math.min(Math.ceil(size / bin) - bins, Math.round(place / bin))) * bin;
  return { ...view, row: inside(view.row, down, shape.rows), col: inside(view.col, across, shape.cols) };
}

/** Another step with the token at (x, y) of the canvas staying where it is. */
export function zoomedAt(view: Viewport, step: ZoomStep, x: number, y: number, shape: MapShape, width: number, height: number): Viewport {
  const perPixel = binOf(view) / view.cell;
  const next = binOf(step) / step.cell;
  return clamped({ ...step, row: view.row + y * (perPixel - next), col: view.col + x * (perPixel - next) }, shape, width, height);
}

export function centredOn(step: ZoomStep, row: number, col: number, shape: MapShape, width: number, height: number): Viewport {
  const perPixel = binOf(step) / step.cell;
  return clamped({ ...step, row: row - (height / 2) * perPixel, col: col - (width / 2) * perPixel }, shape, width, height);
}

/** The first token of the bin under a point, null outside of the map. */
export function cellUnder(view: Viewport, x: number, y: number, shape: MapShape): { row: number; col: number } | null {
  const bin = binOf(view);
  const row = view.row + Math.floor(y / view.cell) * bin;
  const col = view.col + Math.floor(x / view.cell) * bin;
  return x >= 0 && y >= 0 && row < shape.rows && col < shape.cols ? { row, col } : null;
}

/** The device pixel of a token's corner. */
export function pixelOfCell(view: Viewport, row: number, col: number): { x: number; y: number } {
  const scale = view.cell / binOf(view);
  return { x: Math.floor((col - view.col) * scale), y: Math.floor((row - view.row) * scale) };
}

/** Tiles of one level over a part of the map, those nearest to its middle first. */
export function tilesOver(level: number, shape: MapShape, row: number, rowEnd: number, col: number, colEnd: number): TileAt[] {
  const span = TILE * 2 ** level;
  const tiles: TileAt[] = [];
  const last = (end: number, size: number) => Math.ceil(Math.min(end, size) / span);
  for (let y = Math.max(0, Math.floor(row / span)); y < last(rowEnd, shape.rows); ++y) {
    for (let x = Math.max(0, Math.floor(col / span)); x < last(colEnd, shape.cols); ++x) tiles.push({ level, y, x });
  }
  const [middleY, middleX] = [(row + rowEnd) / 2 / span - 0.5, (col + colEnd) / 2 / span - 0.5];
  const far = ({ y, x }: TileAt) => (y - middleY) ** 2 + (x - middleX) ** 2;
  return tiles.sort((a, b) => far(a) - far(b));
}

export interface Need {
  visible: TileAt[];
  prefetch: TileAt[];
}

/** What the view needs: its own tiles, then a ring around it and the next level under its middle. */
export function needed(view: Viewport, fit: ZoomStep, shape: MapShape, width: number, height: number): Need {
  const bin = binOf(view);
  const rowEnd = view.row + Math.ceil(height / view.cell) * bin;
  const colEnd = view.col + Math.ceil(width / view.cell) * bin;
  const visible = tilesOver(view.level, shape, view.row, rowEnd, view.col, colEnd);
  const seen = new Set(visible.map(tileKey));
  const prefetch: TileAt[] = [];
  const add = (tile: TileAt) => {
    const key = tileKey(tile);
    if (!seen.has(key)) prefetch.push(tile);
    seen.add(key);
  };
  // The overview lies under everything and comes before all other guesses.
  if (view.level !== fit.level) for (const tile of tilesOver(fit.level, shape, 0, shape.rows, 0, shape.cols)) add(tile);
  const span = TILE * bin;
  if (view.level !== fit.level) for (const tile of tilesOver(view.level, shape, view.row - span, rowEnd + span, view.col - span, colEnd + span)) add(tile);
  if (view.level > 0) {
    const row = (view.row + Math.min(rowEnd, shape.rows)) / 2;
    const col = (view.col + Math.min(colEnd, shape.cols)) / 2;
    for (const tile of tilesOver(view.level - 1, shape, row, row + 1, col, col + 1)) add(tile);
  }
  return { visible, prefetch };
}

/** Whether the mask leaves nothing of a tile, so that nobody need ask for it. */
export function isForbidden({ level, y, x }: TileAt, causal: boolean): boolean {
  return causal && x > y && level >= 0;
}
