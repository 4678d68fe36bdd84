/** Shows a long map on a canvas: what is in view is asked for, what is there is drawn, and until then what is coarser. No framework. */
import type { ValueName } from '../../core/address';
import type { Lut } from '../../core/tiles/lut';
import { LongMap } from '../../core/long_map';
import { Api } from '../../core/api';
import { CpuPainter, type Painter, type Placed } from '../../core/tiles/paint';
import { GlPainter, isSoftware } from '../../core/tiles/paint_gl';
import { TileQueue, type Wanted } from '../../core/tiles/queue';
import { TILE, type Tile } from '../../core/tiles/tile';
import * as port from '../../core/viewport';

export interface EngineEvents {
  /** Something was drawn: counts and times may be shown. */
  drawn(): void;
  failed(error: unknown): void;
  lostContext(): void;
}

export class MapEngine {
  view: port.Viewport = { level: 0, cell: 1, row: 0, col: 0 };
  fit: port.ZoomStep = { level: 0, cell: 1 };
  of: ValueName = 'times-even';
  pool: 'mean' | 'max' = 'mean';
  lut: Lut | null = null;
  width = 1;
  height = 1;
  /** Milliseconds of the last drawing, and from asking to all that is seen. */
  paintMs = 0;
  loadMs = 0;
  readonly queue: TileQueue<Tile>;
  map: LongMap | null = null;
  painter: Painter;
  private readonly maps = new Map<string, LongMap>();
  private frame = 0;
  private asked = 0;

  constructor(
    private canvas: HTMLCanvasElement,
    private readonly events: EngineEvents,
    gl: boolean | null,
  ) {
    this.painter = this.makePainter(gl);
    this.queue = new TileQueue<Tile>({
      load: (key, signal) => this.load(key, signal),
      bytes: (tile) => tile.codes.byteLength * 2 + 200,
      provisional: (tile) => tile.approximate,
      changed: () => this.draw(),
      failed: (_, error) => {
        this.draw();
        this.events.failed(error);
      },
    });
  }

  /** On a GPU if there is one; a program in place of one is slower than the table on the CPU. */
  private makePainter(gl: boolean | null): Painter {
    if (gl === false) return new CpuPainter(this.canvas);
    try {
      if (gl === null) {
        const trial = document.createElement('canvas').getContext('webgl2');
        const software = !trial || isSoftware(trial);
        trial?.getExtension('WEBGL_lose_context')?.loseContext();
        if (software) return new CpuPainter(this.canvas);
      }
      const painter = GlPainter.on(this.canvas);
      this.canvas.addEventListener('webglcontextlost', (event) => {
        event.preventDefault();
        this.toCpu();
      }, { once: true });
      return painter;
    } catch {
      return new CpuPainter(this.canvas);
    }
  }

  /** A canvas keeps the kind of its first context, so another takes its place. */
  private toCpu(): void {
    const fresh = this.canvas.cloneNode(false) as HTMLCanvasElement;
    this.canvas.replaceWith(fresh);
    this.canvas = fresh;
    this.painter = new CpuPainter(fresh);
    this.events.lostContext();
    this.draw();
  }

  show(map: LongMap): void {
    this.map = map;
    this.maps.set(this.mapKey(map), map);
    if (this.maps.size > 64) this.maps.delete(this.maps.keys().next().value as string);
  }

  private mapKey(map: LongMap): string {
    return Api.ofHead(map.at, 'tiles');
  }

  private tileOf(): string {
    return this.of === 'score' || this.of === 'value-weighted' ? this.of : 'weight';
  }

  private key(at: port.TileAt): string {
    return `${this.mapKey(this.map as LongMap)}|${this.tileOf()}|${this.pool}|${port.tileKey(at)}`;
  }

  private async load(key: string, signal: AbortSignal): Promise<Tile> {
    const [name, of, agg, at] = key.split('|') as [string, string, 'mean' | 'max', string];
    const map = this.maps.get(name);
    const [level, y, x] = at.split('/').map(Number) as [number, number, number];
    if (!map) throw new Error('the map is no longer there');
    return map.run.api.tile(map.at, { level, y, x, agg, of, encoding: of === 'score' ? 'S16' : 'L16' }, signal);
  }

  get shape(): port.MapShape {
    return this.map?.site ?? { rows: 1, cols: 1 };
  }

  /** Bins that are drawn. */
  get bins(): { across: number; down: number } {
    return port.binsIn(this.view, this.shape, this.width, this.height);
  }

  /** Room for the plate, in device pixels. */
  setRoom(width: number, height: number, ratio: number): void {
    this.width = Math.max(16, Math.floor(width));
    this.height = Math.max(16, Math.floor(height));
    this.fit = port.fitting(this.shape, this.width, this.height, ratio);
  }

  look(view: port.Viewport): void {
    this.view = port.clamped(view, this.shape, this.width, this.height);
    this.want();
    this.draw();
  }

  private forbidden = (at: port.TileAt): boolean => port.isForbidden(at, this.map?.causal ?? false);

  want(): void {
    const { map } = this;
    if (!map) return;
    const need = port.needed(this.view, this.fit, this.shape, this.width, this.height);
    const wanted = (tier: Wanted['tier']) => (at: port.TileAt) => ({ key: this.key(at), tier });
    const visible = need.visible.filter((at) => !this.forbidden(at)).map(wanted('visible'));
    // Nothing to look at yet: the overview is what is seen first.
    const under = need.prefetch.filter((at) => !this.forbidden(at));
    const blank = visible.length > 0 && this.view.level !== this.fit.level && !this.coverOf(need.visible[0] as port.TileAt);
    const first = blank ? under.filter(({ level }) => level === this.fit.level) : [];
    const rest = blank ? under.filter(({ level }) => level !== this.fit.level) : under;
    this.asked = performance.now();
    this.queue.want([...first.map(wanted('visible')), ...visible, ...rest.map(wanted('prefetch'))]);
  }

  /** The finest tile that is there over a place. */
  private coverOf(at: port.TileAt): Tile | undefined {
    for (let level = at.level; level <= this.fit.level; ++level) {
      const tile = this.queue.peek(this.key({ level, y: at.y >> (level - at.level), x: at.x >> (level - at.level) }));
      if (tile) return tile;
    }
    return undefined;
  }

  /** The tile of the level in view that holds a token, if it is there. */
  tileAt(row: number, col: number, level = this.view.level): Tile | undefined {
    const span = TILE * 2 ** level;
    return this.map ? this.queue.peek(this.key({ level, y: Math.floor(row / span), x: Math.floor(col / span) })) : undefined;
  }

  /** Tiles in view that are there. */
  tilesInView(): Tile[] {
    const need = port.needed(this.view, this.fit, this.shape, this.width, this.height);
    return need.visible.map((at) => this.queue.peek(this.key(at))).filter((tile) => tile !== undefined);
  }

  draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paintNow();
    });
  }

  paintNow(): void {
    const { map, lut, view } = this;
    if (!map || !lut) return;
    const began = performance.now();
    const { across, down } = this.bins;
    this.painter.resize(Math.max(1, across * view.cell), Math.max(1, down * view.cell));
    this.painter.paint(this.placed(map), lut, 0);
    this.paintMs = performance.now() - began;
    const { done, all } = this.queue.progress();
    if (done === all) this.loadMs = this.asked ? performance.now() - this.asked : this.loadMs;
    if (done === all) this.asked = 0;
    this.events.drawn();
  }

  /** What is there over the view, coarse first. */
  private placed(map: LongMap): Placed[] {
    const { view, shape } = this;
    const bin = port.binOf(view);
    const rowEnd = view.row + this.bins.down * bin;
    const colEnd = view.col + this.bins.across * bin;
    const placed: Placed[] = [];
    for (let level = Math.max(this.fit.level, view.level); level >= view.level; --level) {
      const cell = view.cell * 2 ** (level - view.level);
      for (const at of port.tilesOver(level, shape, view.row, rowEnd, view.col, colEnd)) {
        const tile = level === view.level ? this.queue.get(this.key(at)) : this.queue.peek(this.key(at));
        if (!tile && !(level === view.level && this.forbidden(at))) continue;
        const corner = { left: ((at.x * TILE * 2 ** level - view.col) / bin) * view.cell, top: ((at.y * TILE * 2 ** level - view.row) / bin) * view.cell };
        placed.push(tile
          ? { codes: map.codes(tile, this.of), width: tile.width, height: tile.height, cell, ...corner }
          : { codes: FORBIDDEN_TILE, width: TILE, height: TILE, cell, ...corner });
      }
    }
    return placed;
  }

  /** For tests and for saving: the pixels that are shown. */
  pixels(): ImageData {
    const copy = document.createElement('canvas');
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    const context = copy.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
    context.drawImage(this.canvas, 0, 0);
    return context.getImageData(0, 0, copy.width, copy.height);
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.queue.clear();
    this.painter.dispose();
  }
}

const FORBIDDEN_TILE = new Uint16Array(TILE * TILE).fill(65534);
